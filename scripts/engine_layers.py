"""The engine is a stack, and this fails where it is not: no folder uses one above it in the picture of
crates/engine/src/lib.rs, and no files use one another in a circle. Tests may use everything.

python scripts/engine_layers.py
"""

import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "crates/engine/src"

PICTURE = re.compile(r"^//!  (\w+(?:, \w+)*)  ", re.MULTILINE)
TESTS = re.compile(
    r"#\[cfg\(test\)\]\s*(?:#\[.*?\]\s*)?(?:(?:pub\S* )?(?:use|mod) [^;{]*;|mod tests \{.*)", re.DOTALL
)
USE = re.compile(r"^[ \t]*(pub(?:\(\w+\))? )?use ([^;]+);", re.MULTILINE)
INLINE = re.compile(r"\bcrate(?:::\w+)+")

Name = tuple[str, ...]


def problems(sources: Path = SOURCES) -> list[str]:
    """A line for each use that points upwards in the picture, and for a circle of files."""
    layers = [name for line in PICTURE.findall((sources / "lib.rs").read_text()) for name in line.split(", ")]
    uses, passed_on = _uses(sources)
    found = [f"{name} is not in the picture" for name in sorted({file[0] for file in uses} - set(layers))]
    if found:
        return found
    for file in sorted(uses):
        for other in sorted(uses[file] | passed_on[file]):
            if layers.index(other[0]) < layers.index(file[0]):
                found.append(f"{'::'.join(file)} uses {'::'.join(other)}, which is above it")
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        found.append("a circle: " + " <- ".join("::".join(file) for file in error.args[1]))
    return found


def _uses(sources: Path) -> tuple[dict[Name, set[Name]], dict[Name, set[Name]]]:
    """For each module with a file of its own: those that it uses, and those whose names it only passes on."""
    texts = {}
    for path in sources.rglob("*.rs"):
        module = path.relative_to(sources).with_suffix("").parts
        if path.name != "lib.rs" and "tests" not in module:
            texts[module[:-1] if module[-1] == "mod" else module] = TESTS.sub(
                "", _without_comments(path.read_text())
            )
    passed_on: dict[Name, Name] = {}
    named: dict[Name, set[Name]] = {}
    for module, text in texts.items():
        code = USE.sub("", text)
        named[module] = {tuple(path.split("::")[1:]) for path in INLINE.findall(code)}
        children = [child for child in texts if child[:-1] == module]
        named[module] |= {child for child in children if re.search(rf"(?<!::)\b{child[-1]}::", code)}
        for public, tree in USE.findall(text):
            for leaf in _leaves(tree):
                target = _absolute(module, leaf, texts)
                if target in texts:
                    named[module] |= {(*target, name) for name in re.findall(rf"\b{leaf[-1]}::(\w+)", code)}
                if public:
                    passed_on[(*module, leaf[-1])] = target
                else:
                    named[module].add(target)
    uses = {
        module: {_file(path, passed_on, texts) for path in paths} - {module, ()}
        for module, paths in named.items()
    }
    passes = {
        module: {_file(path, passed_on, texts) for name, path in passed_on.items() if name[:-1] == module}
        - {()}
        for module in texts
    }
    return uses, passes


def _without_comments(text: str) -> str:
    return re.sub(r"//.*", "", text)


def _leaves(tree: str) -> Iterator[Name]:
    """The paths of a tree such as `a::{b, c::{self, d as e}}`."""
    prefixes = [""]
    for token in re.findall(r"[\w:]*\{|\}|[\w:*]+", re.sub(r" as \w+", "", tree)):
        if token.endswith("{"):
            prefixes.append(prefixes[-1] + token[:-1])
        elif token == "}":
            prefixes.pop()
        else:
            yield tuple((prefixes[-1] + token).removesuffix("::self").split("::"))


def _absolute(module: Name, path: Name, files: dict[Name, str]) -> Name:
    """The path from the root of the crate; empty if it leads to another crate."""
    if path[0] == "crate":
        return path[1:]
    base = module
    while path[0] == "super":
        base, path = base[:-1], path[1:]
    return (*base, *path) if base != module or (*base, path[0]) in files else ()


def _file(path: Name, passed_on: dict[Name, Name], files: dict[Name, str]) -> Name:
    """The module whose file defines what the path leads to."""
    for length in range(len(path), 0, -1):
        if path[:length] in passed_on:
            return _file((*passed_on[path[:length]], *path[length:]), passed_on, files)
        if path[:length] in files:
            return path[:length]
    return ()


if __name__ == "__main__":
    sys.exit("\n".join(problems()) or 0)
