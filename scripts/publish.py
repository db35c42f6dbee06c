"""Takes a whole run of all experiments into docs/results. `scripts/docs --write` then quotes it.

python scripts/publish.py FOLDER        of `jostle race --all --until-decided --budget 90m`

The full pages and the records stay behind: they are 30 times as large, and the command makes them again.
"""

import io
import json
import re
import sys
from pathlib import Path

from PIL import Image

from jostle.cli.race_all import State, in_order

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs/results"
MAX_BYTES = 5_000_000
"""Of docs/results: every clone carries it."""

COLOURS = 96
REPORT = re.compile(r"^\[The full report\]\(reports/[^)]*\)\n", re.MULTILINE)


def publish(run: Path) -> None:
    """Raises `SystemExit` for a folder that does not hold a whole run, and for too large results."""
    state = State.of(run, None)
    missing = [name for name in in_order(None) if state.of_experiment(name).get("state") != "done"]
    if missing:
        raise SystemExit(f"{run} has no whole run: {', '.join(missing)}")
    pictures = sorted((run / "pictures").glob("*.png"))
    made = {RESULTS / "pictures" / picture.name: smaller(picture) for picture in pictures}
    results = json.loads((run / "results.json").read_text("utf-8"))
    made[RESULTS / "results.json"] = json.dumps(results, ensure_ascii=False).encode() + b"\n"
    made[RESULTS / "results.md"] = REPORT.sub("", (run / "results.md").read_text("utf-8")).encode()
    size = sum(map(len, made.values()))
    if size > MAX_BYTES:
        raise SystemExit(f"{size / 1e6:.1f} MB are too much: at most {MAX_BYTES / 1e6:.0f} MB")
    for picture in (RESULTS / "pictures").glob("*.png"):
        picture.unlink()
    for path, content in made.items():
        path.write_bytes(content)


def smaller(picture: Path) -> bytes:
    """Half as wide and as high, in few colours: a tenth of the size, and as clear on a page."""
    with Image.open(picture) as image:
        size = image.width // 2, image.height // 2
        half = image.convert("RGB").resize(size, Image.Resampling.LANCZOS).quantize(COLOURS)
    found = io.BytesIO()
    half.save(found, "PNG", optimize=True)
    return found.getvalue()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    publish(Path(sys.argv[1]))
