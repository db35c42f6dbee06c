"""Libraries of npm that our pages carry, so that they work offline: a file for each page.

python scripts/vendored.py            checks that the files are those that were made
python scripts/vendored.py --write    makes them again, by `npm pack`; a new checksum is printed
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

__all__ = ["FILES", "REPORT", "WEB", "problems"]

PACKAGE = Path(__file__).resolve().parents[1] / "python/jostle"


class NpmPackage(NamedTuple):
    """`sha512`: of the archive, as npm's `integrity`. `script`: what of it is taken."""

    name: str
    version: str
    sha512: str
    script: str


class Vendored(NamedTuple):
    """A file of `packages`, each of which uses those before it. `end`: what stands at its end."""

    file: Path
    sha256: str
    packages: list[NpmPackage]
    end: str = ""


VEGA = [
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
"""Vega-Lite is the version of `jostle.report.export.vega.VEGA_LITE`."""


def uplot(script: str) -> NpmPackage:
    return NpmPackage(
        "uplot",
        "1.6.32",
        "KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==",
        script,
    )


REPORT = Vendored(
    PACKAGE / "report/templates/vega.js",
    "2ed28bf12667018f4e1f6d74f6bd6fe7c12a3c27847ade4681019760a82b99de",
    VEGA,
)
"""In every report.html."""

WEB = [
    Vendored(
        PACKAGE / "web/static/uplot.js",
        "94cecb3464af3b13988b9bc54afdaa2fd3d13d6c67516f442bff96b762c4e2ca",
        [uplot("dist/uPlot.iife.min.js")],
        end="\nexport default uPlot;\n",
    ),
    Vendored(
        PACKAGE / "web/static/uplot.css",
        "fed4cd3c067796b02e3186c31cf4abf1627e46be71226601584c31232d8b33e1",
        [uplot("dist/uPlot.min.css")],
    ),
]
"""In the pages of `jostle web`."""

FILES = [REPORT, *WEB]


def problems() -> list[str]:
    """A line for each file that is not the one that was made."""
    found = {one.file.name: hashlib.sha256(one.file.read_bytes()).hexdigest() for one in FILES}
    wrong = {one.file.name for one in FILES if found[one.file.name] != one.sha256}
    return [f"{name} has the SHA-256 {found[name]}: scripts/vendored.py --write" for name in sorted(wrong)]


def made(vendored: Vendored) -> bytes:
    """The file: the licence of each library, and its script."""
    with tempfile.TemporaryDirectory() as folder:
        parts = [part for package in vendored.packages for part in _parts(package, Path(folder))]
    return b"\n".join(parts) + vendored.end.encode()


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
        for vendored in FILES:
            content = made(vendored)
            for forbidden in (b"</script", b"<!--"):
                assert forbidden not in content.lower(), f"{forbidden!r} would end the script of the page"
            vendored.file.write_bytes(content)
    for problem in (found := problems()):
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
