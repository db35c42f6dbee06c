"""The command of each run: a plan of `loads`, or what the documents tell a reader to type."""

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import jostle
from jostle.contestant.tools import REFERENCE
from truth.verdict.loads import LOADS
from truth.verdict.situations import Situation

JOSTLE = str(Path(sys.executable).with_name("jostle"))
PACKAGE = Path(jostle.__file__).parent
RECIPE = Path(__file__).parents[3] / "docs" / "how-to" / "github-actions.md"
RECORDED = ("--into", "runs")
TOML = re.compile(r"```toml\n(.*?)```", re.DOTALL)


@contextlib.contextmanager
def command_of(situation: Situation, folder: Path, seed: int, modes: Path) -> Iterator[Sequence[str]]:
    """To be run in `folder`; what it needs runs meanwhile. `modes`: a file for the faulty server."""
    words: list[str] = []
    with contextlib.ExitStack() as beside:
        match situation.ordinary:
            case "hit":
                url = beside.enter_context(_serving())
                words = ["hit", f"{url}/fast/44", "-c", "10", "-d", "3s"]
            case "demo":
                words = ["race", "starvation", "--quick", "--contestants", "node,go", "--no-pages"]
            case "tutorial":
                words = ["run", str(PACKAGE / "cli" / "first-plan.toml"), "--no-pages"]
            case "ci":
                _two_versions(folder)
                words = ["run", "plan.toml", "--rounds", "3", "-d", "1s", "--undecided", "pass", "--no-pages"]
            case _:
                plan = LOADS[situation.load].plan(
                    rounds=situation.rounds,
                    repeats=situation.repeats,
                    options=situation.options.replace("MODES", str(modes)),
                )
                (folder / "plan.toml").write_text(plan, encoding="utf-8")
                words = ["run", "plan.toml", "--no-pages"]
        yield [JOSTLE, *words, *RECORDED, "--seed", str(seed)]


def _two_versions(folder: Path) -> None:
    """The plan of the documents' recipe, with two equal versions."""
    for version in ("before", "after"):
        (folder / version).mkdir()
        (folder / version / "index.html").write_text("<h1>hello</h1>\n", encoding="utf-8")
    (plan, *_) = TOML.findall(RECIPE.read_text(encoding="utf-8"))
    (folder / "plan.toml").write_text(plan, encoding="utf-8")


@contextlib.contextmanager
def _serving() -> Iterator[str]:
    """The server of the tutorial, and its URL."""
    with subprocess.Popen([REFERENCE, "run-to-completion"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        try:
            yield f"http://{address}"
        finally:
            server.terminate()
