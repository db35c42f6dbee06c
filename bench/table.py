"""The table of all sections that were ever measured here: bars and figures, reached or not."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["write_table"]

NOTE = """
Peers and jostle took turns in the same run; the server was pinned to core 0, the tool to core 1. Ratios are
of pairs from the same round: median (lowest to highest). How to read it: [README](../README.md).
"""


def write_table(results: Path, order: Iterable[str]) -> str:
    """Write `results`/table.md from the sections' files, in this order, and return it."""
    sections = [json.loads(file.read_text()) for name in order if (file := results / f"{name}.json").exists()]
    lines = ["| what | bar | measured | |", "|---|---|---|---|"]
    for section in sections:
        lines += [_line(row, quick=section["quick"]) for row in section["rows"]]
    text = "\n".join(lines) + "\n" + NOTE
    for section in sections:
        text += f"\n## {section['section']}\n\n{_facts(section)}\n"
        if section["details"]:
            text += f"\n{section['details']}\n"
    (results / "table.md").write_text(text)
    return text


def _line(row: dict[str, Any], *, quick: bool) -> str:
    verdict = {True: "reached", False: "**not reached**", None: ""}[row["reached"]]
    if quick:
        verdict = "quick: says nothing"
    return f"| {row['what']} | {row['bar']} | {row['measured']} | {verdict} |"


def _facts(section: dict[str, Any]) -> str:
    return (
        f"Measured {section['measured']}, kernel {section['kernel']}, {section['cores']} cores, "
        f"{section['rounds']} rounds, windows of {section['seconds']:g} s, in {section['took_s']:.0f} s; "
        f"load average before: {section['load_average_before']:.2f}."
    )
