"""The supply chain, checked offline: known holes, licences, duplicates, what is carried, pins and hashes.

python scripts/audit                            checks, and writes the bills of materials into dist/
python scripts/audit --wheel                    builds the wheel twice: are its bytes the same?
python scripts/audit --refresh RUSTSEC PYPA     the databases of known holes, from git clones of them
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import vendored
from audit import advisories, licences, musl, pins, sbom, wheel
from audit.packages import ROOT, carried_crates, locked_crates, locked_python, needed_python


def main(words: list[str]) -> int:
    """The exit code: 0 where nothing was found."""
    match words:
        case ["--wheel"]:
            return _say([("built twice", wheel.differences())])
        case ["--refresh", rustsec, pypa]:
            advisories.refresh(Path(rustsec), Path(pypa))
            return 0
        case []:
            return _audit()
    print(__doc__, file=sys.stderr)
    return 2


def _audit() -> int:
    copy, carried, needed = advisories.read_copy(), carried_crates(), needed_python()
    locked = locked_crates(), locked_python()
    for source in copy["sources"]:
        print(f"{source['name']}: as of {source['date']}")
    (ROOT / "dist").mkdir(exist_ok=True)
    for kind, packages in (("cargo", carried), ("pypi", needed)):
        path = ROOT / "dist" / f"jostle-{kind}.cdx.json"
        path.write_text(json.dumps(sbom.bill(kind, packages), indent=1) + "\n")
        print(f"{path.relative_to(ROOT)}: {len(packages)} packages")
    return _say(
        [
            (
                f"known holes in {len(locked[0])} crates and {len(locked[1])} packages",
                advisories.concerning(copy, *locked),
            ),
            ("packages that were looked for in the databases", advisories.unknown(copy, *locked)),
            ("licences of what is carried", licences.unallowed(carried)),
            ("crates carried in one version", licences.duplicates(carried)),
            ("each crate that is carried brings its licence's text", licences.without_text(carried)),
            ("everything is pinned and hashed", pins.loose()),
            ("the libraries of our pages are what was made", vendored.problems()),
            ("the base install has wheels for Alpine", musl.without_wheels()),
        ]
    )


def _say(checks: list[tuple[str, list[str]]]) -> int:
    for what, found in checks:
        print(f"{'✗' if found else '✓'} {what}")
        for line in found:
            print(f"    {line}")
    return 1 if any(found for _, found in checks) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
