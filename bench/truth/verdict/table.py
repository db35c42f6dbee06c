"""`make truth VERDICT=1`: measures, judges, and tells what became of the figures."""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from truth.verdict.measure import BUDGET_S, measure
from truth.verdict.rates import Row, broken, false_diagnoses
from truth.verdict.situations import QUICK, SITUATIONS

__all__ = ["kept", "measured"]


def measured(*, quick: bool, seed: int) -> Path:
    """All situations, or with `quick` some of them once: the folder of the runs, which is kept."""
    folder = Path(tempfile.mkdtemp(prefix="jostle-verdict-"))
    folder.chmod(0o755)  # servers run as another user
    print(f"  the runs are kept in {folder}", flush=True)
    measure(QUICK if quick else SITUATIONS, folder, seed, BUDGET_S)
    return folder


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
                        "strict": sorts[id(figure)].strict if id(figure) in sorts else None,
                    }
                    for figure in run.said.figures
                ],
            }
            for run in row.runs
        ]
        s = row.situation
        situations.append({"planted": s.name, "load": s.load or s.ordinary, "truth": s.truth, "runs": runs})
    return {"bars not kept": broken(rows), "situations": situations}
