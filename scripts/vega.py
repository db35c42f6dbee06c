"""The page's library: Vega, Vega-Lite and vega-embed of npm in one file, so that pages work offline.

python scripts/vega.py            checks that the file is the one that was made
python scripts/vega.py --write    makes it again, by `npm pack`; a new checksum is printed
"""

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["FILE", "PACKAGES", "SHA256", "problems"]

FILE = Path(__file__).resolve().parents[1] / "python/jostle/report/templates/vega.js"

SHA256 = "2ed28bf12667018f4e1f6d74f6bd6fe7c12a3c27847ade4681019760a82b99de"


class NpmPackage(NamedTuple):
    """`sha512`: of the archive, as npm's `integrity`. `script`: what of it is taken."""

    name: str
    version: str
    sha512: str
    script: str


PACKAGES = [
    NpmPackage(
        "vega",
        "6.4.0",
        "rHXCq2LpEWCLMjXBEj7hocY9G0/i5TGYRayGGSj06VTF4+l2IG2Z7oeZKCjWbUh/7hTE/mVhbaOPB72wCElh6g==",
        "build/vega.min.js",
    ),
    NpmPackage(
        "vega-lite",
        "6.4.3",
        "d/7hPjfz560UERaQuTmGgIVfXAe3g2hJWeC+igDeaGohUdEoNrHLXgR/yTOBT8vV/lIuuKnw+0/xWWblkDwkMQ==",
        "build/vega-lite.min.js",
    ),
    NpmPackage(
        "vega-embed",
        "7.3.0",
        "wQ8s5GaSzqoKgmRfbRolgBrjE2CP7ZKHXqH7NijxMqPjpdWxSs4Dn8tvp9g0giQvh2cK+3p56sxjWWM0wNngGw==",
        "build/vega-embed.min.js",
    ),
]
"""Each uses those before it. Vega-Lite is the version of `jostle.report.export.vega.VEGA_LITE`."""


def problems() -> list[str]:
    """A line if the file is not the one that was made."""
    found = hashlib.sha256(FILE.read_bytes()).hexdigest()
    return [] if found == SHA256 else [f"{FILE.name} has the SHA-256 {found}: scripts/vega.py --write"]


def made() -> bytes:
    """The file: the licence of each library, and its script."""
    with tempfile.TemporaryDirectory() as folder:
        return b"\n".join(part for package in PACKAGES for part in _parts(package, Path(folder)))


def _parts(package: NpmPackage, folder: Path) -> Iterator[bytes]:
    packed = subprocess.run(
        ["npm", "pack", "--json", f"{package.name}@{package.version}"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    archive = folder / json.loads(packed.stdout)[0]["filename"]
    if base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode() != package.sha512:
        raise SystemExit(f"{package.name} {package.version} is not what it was when it was chosen")
    with tarfile.open(archive) as opened:
        licence, script = (opened.extractfile(f"package/{name}") for name in ("LICENSE", package.script))
        assert licence is not None
        assert script is not None
        head = f"/*! {package.name} {package.version}\n\n".encode()
        yield head + licence.read().strip().replace(b"*/", b"* /") + b"\n*/"
        lines = script.read().strip().split(b"\n")
        yield b"\n".join(line for line in lines if not line.startswith(b"//# sourceMappingURL="))


def main(words: list[str]) -> int:
    if words == ["--write"]:
        content = made()
        for forbidden in (b"</script", b"<!--"):
            assert forbidden not in content.lower(), f"{forbidden!r} would end the script of the page"
        FILE.write_bytes(content)
    for problem in (found := problems()):
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
