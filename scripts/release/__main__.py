"""Builds a release into dist/release, from the commit that is checked out: make release.

python scripts/release                      the wheels for all targets, and what belongs to them
python scripts/release --only TRIPLE,…      the wheels for some of them
"""

import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from audit.packages import ROOT
from release import build, checksums, faults, tools
from release.targets import TARGETS, Target, chosen

RELEASE = ROOT / "dist" / "release"


def main(words: list[str]) -> int:
    """The exit code: 0 where everything was built and nothing is wrong with it."""
    match words:
        case []:
            targets = list(TARGETS)
        case ["--only", triples]:
            try:
                targets = chosen(triples.split(","))
            except ValueError as error:
                return _refuse([str(error)])
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    if why := [*uncommitted(), *tools.missing(targets)]:
        return _refuse(why + possible(targets))
    if subprocess.run([sys.executable, ROOT / "scripts" / "audit"], cwd=ROOT).returncode:
        return _refuse(["what jostle is made of does not pass: see ✗ above"])
    return _release(targets)


def uncommitted(root: Path = ROOT) -> list[str]:
    """What git has not got, though the clone has: none of it would be released."""
    words = ["git", "status", "--porcelain"]
    status = subprocess.run(words, cwd=root, check=True, capture_output=True, text=True).stdout
    if not status:
        return []
    paths = ", ".join(line[3:] for line in status.splitlines()[:5])
    return [f"a release is built from a commit, and some changes are in none ({paths}): commit or stash them"]


def possible(targets: Sequence[Target]) -> list[str]:
    """A hint where only the standard library for some of the targets is missing."""
    there = [target for target in targets if tools.can_compile_for(target)] if shutil.which("rustc") else []
    if not there or len(there) == len(targets):
        return []
    return [f"without it: make release ONLY={','.join(target.triple for target in there)}"]


def _release(targets: Sequence[Target]) -> int:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    commit = build.commit()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        build.check_out(commit, base / "source")
        wrong = [f"{path.name}: {fault}" for path, fault in _build(base, commit, targets, version)]
        if wrong:
            return _refuse(wrong)
        made = base / "dist"
        for kind in ("cargo", "pypi"):
            shutil.copy(ROOT / "dist" / f"jostle-{kind}.cdx.json", made)
        about = {"version": version, "commit": commit.hash, "tools": tools.versions()}
        (made / "BUILD.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        sums = checksums.write(made).read_text(encoding="utf-8")
        shutil.rmtree(RELEASE, ignore_errors=True)
        shutil.copytree(made, RELEASE)
    print(sums, end="")
    print(f"✓ {RELEASE.relative_to(ROOT)}: jostle {version}, commit {commit.hash[:12]}")
    return 0


def _build(
    base: Path, commit: build.Commit, targets: Sequence[Target], version: str
) -> Iterator[tuple[Path, str]]:
    """Builds everything into `base`/dist, and gives what is wrong with it."""
    sdist = build.sdist(base, commit)
    yield from ((sdist, fault) for fault in faults.of_sdist(sdist, version))
    for target in targets:
        wheel = build.wheel(base, commit, target)
        yield from ((wheel, fault) for fault in faults.of_wheel(wheel, target, version))


def _refuse(why: Sequence[str]) -> int:
    for line in why:
        print(f"✗ {line}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
