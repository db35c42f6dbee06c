"""`make truth VERDICT=1`: measures, judges, and tells what became of the figures."""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from truth.verdict.judged import said_by
from truth.verdict.measure import BUDGET_S, measure, measured_in
from truth.verdict.rates import Row, broken, false_diagnoses, markdown, rows_of
from truth.verdict.right import Run
from truth.verdict.situations import QUICK, SITUATIONS, key_of

__all__ = ["broken", "judged_again", "kept", "markdown", "measured"]


def measured(*, quick: bool, seed: int) -> list[Row]:
    """All situations, or with `quick` some of them once. The runs are kept, to be judged again."""
    folder = Path(tempfile.mkdtemp(prefix="jostle-verdict-"))
    folder.chmod(0o755)  # servers run as another user
    print(f"  the runs are kept in {folder}", flush=True)
    measure(QUICK if quick else SITUATIONS, folder, seed, BUDGET_S)
    return judged_again(folder)


def judged_again(folder: Path) -> list[Row]:
    """The runs that were measured before, judged by this version and its thresholds."""
    known = {key_of(situation): situation for situation in SITUATIONS}
    runs = []
    for place, one in enumerate(measured_in(folder)):
        if one.record is None:
            print(f"  {one.key}, run {one.number + 1}: no record (exit code {one.exit_code}, {one.folder})")
        elif one.key in known:
            runs.append(Run(known[one.key], place, said_by(one.record), one.stolen))
    return rows_of(SITUATIONS, runs)


def kept(rows: Sequence[Row]) -> dict[str, Any]:
    """Every run, with every figure, for bench/results/verdict.json."""
    situations = []
    for row in rows:
        sorts = {id(one.figure): one for one in row.figures}
        runs = [
            {
                "verdict": run.said.verdict,
                "first lines": run.said.lines,
                "checks": run.said.checks,
                "false diagnoses": false_diagnoses(run),
                "stolen": run.stolen,
                "figures": [
                    {
                        **asdict(figure),
                        "truth": sorts[id(figure)].truth if id(figure) in sorts else None,
                        "sort": sorts[id(figure)].sort if id(figure) in sorts else None,
                    }
                    for figure in run.said.figures
                ],
            }
            for run in row.runs
        ]
        s = row.situation
        situations.append({"planted": s.name, "load": s.load or s.ordinary, "truth": s.truth, "runs": runs})
    return {"bars not kept": broken(rows), "situations": situations}
