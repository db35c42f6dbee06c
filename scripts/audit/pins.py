"""Is everything that is fetched for a build pinned to a version, and locked with a hash?"""

import re
import tomllib
from collections.abc import Iterator

from audit.packages import ROOT

__all__ = ["loose"]


def loose() -> list[str]:
    """What is not."""
    return [*_python(), *_crates(), *_tools()]


def _python() -> Iterator[str]:
    for entry in tomllib.loads((ROOT / "uv.lock").read_text())["package"]:
        files = [*entry.get("wheels", []), *([entry["sdist"]] if "sdist" in entry else [])]
        ours = "editable" in entry["source"]
        if not ours and (not files or any(not file.get("hash", "").startswith("sha256:") for file in files)):
            yield f"uv.lock: {entry['name']} {entry['version']} has no hash"


def _crates() -> Iterator[str]:
    for lock in sorted(ROOT.glob("**/Cargo.lock")):
        if "target" in lock.parts or ".venv" in lock.parts:
            continue
        for entry in tomllib.loads(lock.read_text())["package"]:
            if "source" in entry and "checksum" not in entry:
                yield f"{lock.relative_to(ROOT)}: {entry['name']} {entry['version']} has no checksum"


def _tools() -> Iterator[str]:
    """uv is fetched by pip, and the toolchain by rustup: by version."""
    if "--require-hashes --requirement scripts/uv.txt" not in (ROOT / "scripts" / "uv.sh").read_text():
        yield "scripts/uv.sh: uv is not installed by its hashes"
    channel = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", channel):
        yield f"rust-toolchain.toml: the channel {channel!r} is no version"
