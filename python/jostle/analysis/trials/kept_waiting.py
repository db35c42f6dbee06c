"""For what share of the time others had the cores that the server or the generator wanted.

The kernel counts the time that a hypervisor takes, and the work of others, by sampling at its ticks.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jostle.analysis.trials.data import TrialData

__all__ = ["NOTICEABLE_S", "VISIBLE", "KeptWaiting", "generator_kept_waiting", "server_kept_waiting"]

NOTICEABLE_S = 0.03
"""Less than this may be an error of the kernel's samples."""

VISIBLE = 0.15
"""Share of the server's cores. Less than this in a trial may be an error of the kernel's samples, and did no
harm: undisturbed, up to 0.09 was seen, and beside a program that computes for 10 % of the time up to 0.17,
where no figure moved (docs/explanation/how-often-right.md)."""


@dataclass(frozen=True)
class KeptWaiting:
    """Both shares of a trial; None where that is not known."""

    server: float | None
    """Of the time in which it had work, others had its cores."""
    generator: float | None
    """Of the trial, its threads waited for a core of their own."""

    @classmethod
    def of(cls, data: "TrialData") -> "KeptWaiting":
        return cls(server_kept_waiting(data), generator_kept_waiting(data))


def server_kept_waiting(data: "TrialData") -> float | None:
    """A server also waits for its own threads, so no more waiting is counted than others worked. What a
    hypervisor took is shared among all that ran. None if the server is not ours, and in older records.
    """
    m, server = data.machine, data.resource_usage
    if len(m.start_s) == 0 or len(server.t_ns) < 2 or np.isnan(m.others_s).any():
        return None
    cpu_s, busy_s = float(server.cpu_s[-1] - server.cpu_s[0]), float(m.busy_s.sum())
    stolen_s = float(m.steal_s.sum()) * (min(1.0, cpu_s / busy_s) if busy_s else 1.0)
    others_s = m.others_beside_server_s(cpu_s)
    cores = len(data.trial.description.get("placement", {}).get("server_cores") or [0])
    seen = others_s >= VISIBLE * float(m.length_s.sum()) * cores
    lost = (min(server.waited_s, others_s) if seen else 0.0) + stolen_s
    response = data.responses.whole
    answering_s = min(float(m.length_s.sum()), response.n_events * (response.mean_s or 0.0))
    wanted = max(cpu_s + server.waited_s + stolen_s, answering_s)
    return lost / wanted if wanted and lost > NOTICEABLE_S else 0.0


def generator_kept_waiting(data: "TrialData") -> float | None:
    """None where server and generator share cores, which another check tells, and where it is not known."""
    m, placement = data.machine, data.trial.description.get("placement", {})
    if placement.get("shared") is not False or not len(m.length_s) or np.isnan(m.waited_s).all():
        return None
    return float(np.nansum(m.waited_s) / m.length_s.sum()) / len(placement.get("generator_cores") or [0])
