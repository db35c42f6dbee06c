"""Which licences may come with jostle, and THIRD-PARTY.md: what the wheel and the page carry, under which."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from audit.packages import ROOT, Package, carried_crates
from vendored import REPORT, WEB

__all__ = ["THIRD_PARTY", "allowed", "duplicates", "third_party", "unallowed", "without_text"]

THIRD_PARTY = ROOT / "THIRD-PARTY.md"

ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0",
    "CDLA-Permissive-2.0", "ISC", "MIT", "Unicode-3.0", "Unlicense", "Zlib",
}  # fmt: skip
"""None of them asks for more than that its text is passed on."""

DUPLICATES = {
    "getrandom": "rand 0.9 and ring ask for different ones",
    "syn": "macros of prost, logos and miette ask for 2, those of serde and pyo3 for 3",
}
"""Crates that are carried in two versions, and why nothing can be done about it."""

TEXT_ELSEWHERE = {"alloc-stdlib": "alloc-no-stdlib", "mlua-sys": "mlua"}
"""Crates without a licence's text, and the crate of the same repository that brings it."""

PAGE = [
    ("Vega", "BSD-3-Clause", "University of Washington Interactive Data Lab"),
    ("Vega-Lite", "BSD-3-Clause", "University of Washington Interactive Data Lab"),
    ("Vega-Embed", "BSD-3-Clause", "University of Washington Interactive Data Lab"),
    ("D3 modules", "ISC", "Mike Bostock"),
    ("fast-json-patch", "MIT", "Joachim Wester"),
    ("json-stringify-pretty-compact", "MIT", "Simon Lydell"),
    ("semver", "ISC", "Isaac Z. Schlueter and contributors"),
    ("tslib", "0BSD", "Microsoft Corporation"),
]
"""JavaScript that every report.html carries: the packages of `vendored.REPORT`, and what these bring."""

TEXTS = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|COPYRIGHT)", re.IGNORECASE)


def allowed(expression: str) -> bool:
    """Whether an SPDX expression leaves a choice of licences that may all be used."""
    return _any_of(re.findall(r"\(|\)|[^\s()]+", expression))


def _any_of(words: list[str]) -> bool:
    """`a OR b AND c`: AND binds more tightly. Takes the words up to its end or to a closing bracket."""
    fine = _all_of(words)
    while words and words[0] == "OR":
        words.pop(0)
        fine = _all_of(words) or fine
    return fine


def _all_of(words: list[str]) -> bool:
    fine = _one(words)
    while words and words[0] == "AND":
        words.pop(0)
        fine = _one(words) and fine
    return fine


def _one(words: list[str]) -> bool:
    if not words:
        return False
    if (name := words.pop(0)) == "(":
        fine = _any_of(words)
        words[:1] = []
        return fine
    if words[:1] == ["WITH"]:
        name = f"{name} WITH {words[1]}"
        del words[:2]
    return name in ALLOWED


def unallowed(packages: Iterable[Package]) -> list[str]:
    return [f"{p.name} {p.version}: {p.licence or 'no licence'}" for p in packages if not allowed(p.licence)]


def duplicates(packages: Iterable[Package]) -> list[str]:
    """Crates in more than one version that nobody has explained."""
    versions: dict[str, list[str]] = defaultdict(list)
    for package in packages:
        versions[package.name].append(package.version)
    return [
        f"{name}: {', '.join(found)}"
        for name, found in versions.items()
        if len(found) > 1 and name not in DUPLICATES
    ]


def without_text(packages: Iterable[Package]) -> list[str]:
    """Crates whose licence's text would be missing from THIRD-PARTY.md."""
    found = {
        package.name: package.folder is not None and bool(_files(package.folder)) for package in packages
    }
    return [
        name for name, has_text in found.items() if not (has_text or found.get(TEXT_ELSEWHERE.get(name, "")))
    ]


def third_party() -> str:
    """The whole text of THIRD-PARTY.md."""
    crates = carried_crates()
    lines = [
        "# What jostle carries of others",
        "",
        "## Compiled into the wheel",
        "",
        "| crate | version | licence |",
        "|---|---|---|",
        *(f"| {p.name} | {p.version} | {p.licence} |" for p in crates),
        "",
        "## In every page (`report.html`)",
        "",
        f"In one file, `{REPORT.file.name}`, with the SHA-256 `{REPORT.sha256}`, made from",
        f"{', '.join(f'{p.name} {p.version}' for p in REPORT.packages)} of npm; it begins with their",
        "licences.",
        "",
        "| library | licence | copyright |",
        "|---|---|---|",
        *(f"| {name} | {licence} | {owner} |" for name, licence, owner in PAGE),
        "",
        "## In the pages of `jostle web`",
        "",
        "| file | SHA-256 | of npm | licence | copyright |",
        "|---|---|---|---|---|",
        *(
            f"| {one.file.name} | `{one.sha256}` | {p.name} {p.version} | MIT | Leon Sorokin |"
            for one in WEB
            for p in one.packages
        ),
        "",
        "## Texts",
        "",
        *_texts(crates),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _texts(crates: Iterable[Package]) -> list[str]:
    """Each text once, with the crates that it belongs to."""
    owners: dict[str, list[str]] = defaultdict(list)
    texts: dict[str, str] = {}
    for crate in crates:
        assert crate.folder is not None
        for path in _files(crate.folder):
            text = "\n".join(line.rstrip() for line in path.read_text(errors="replace").strip().splitlines())
            key = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
            texts.setdefault(key, text)
            if crate.name not in owners[key]:
                owners[key].append(crate.name)
    lines = []
    for key, names in sorted(owners.items(), key=lambda item: item[1]):
        lines += [f"### {', '.join(names)}", "", "```text", texts[key].replace("```", "'''"), "```", ""]
    return lines


def _files(folder: Path) -> list[Path]:
    """Of the crate, and of sources in other languages that it brings along in a folder (jemalloc, Luau)."""
    found = [*folder.iterdir(), *folder.glob("*/*")]
    return sorted(path for path in found if path.is_file() and TEXTS.match(path.name))
