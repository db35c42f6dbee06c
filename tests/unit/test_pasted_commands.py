"""Command lines of documents can be pasted into a shell as they are."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
TYPED = re.compile(r"^ *(?:\$ )?(jostle .*)$", re.MULTILINE)
QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
PROSE = re.compile(r" {2,}(?!#)\S")


def wrong(text: str) -> Iterator[str]:
    """Lines with prose that no # begins, or with a ? that a shell would take for any character."""
    for language, block in FENCED.findall(text):
        for line in TYPED.findall(block) if language in ("", "sh") else ():
            command = QUOTED.sub("_", line.partition(" # ")[0])
            if PROSE.search(command) or "?" in command:
                yield line


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_can_be_pasted(path: Path) -> None:
    assert list(wrong(path.read_text(encoding="utf-8"))) == []


def test_what_cannot_be_pasted_would_be_noticed() -> None:
    lines = [
        "jostle hit 'http://localhost/?q=1' -c 2   # a comment: why?",
        "jostle hit http://localhost/?q=1",
        "jostle race --all    all of them",
    ]
    assert list(wrong("```sh\n" + "\n".join(lines) + "\n```")) == lines[1:]
