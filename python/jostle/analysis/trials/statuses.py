"""The statuses of right responses: how they are mixed, and whether that changes within a trial."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jostle.analysis.stats.mixture import Stretch, apart, unlike_the_rest
from jostle.analysis.trials.data import MEASURED, TrialData
from jostle.formatting import listed, percent
from jostle.units import format_duration

__all__ = [
    "ByRequest",
    "StatusChange",
    "Statuses",
    "added",
    "change_of_statuses",
    "contrast",
    "mixed",
    "statuses_of",
]

Statuses = Mapping[str, int]
"""Number of right responses by status."""

ByRequest = Mapping[str, Statuses]
"""Number of right responses by request name and status."""

MAX_NAMED = 4
"""Most statuses of a mixture that a sentence names."""


@dataclass(frozen=True)
class StatusChange:
    """A stretch of a trial, in seconds from its start, with another mixture of statuses than the rest.

    `request`: whose responses; "" if the workload has only one. `before` and `after` the stretch; empty where
    it reaches to the start or to the end.
    """

    request: str
    start_s: float
    end_s: float
    before: Statuses
    within: Statuses
    after: Statuses

    def __str__(self) -> str:
        at = f" of {self.request}" if self.request else ""
        start, end = format_duration(self.start_s), format_duration(self.end_s)
        if not self.before:
            changes = f"{mixed(self.within)} until {end}, then {mixed(self.after)}"
        elif not self.after:
            changes = f"{mixed(self.before)} until {start}, then {mixed(self.within)}"
        else:
            rest = Counter(self.before) + Counter(self.after)
            changes = f"{mixed(self.within)} from {start} to {end}, and {mixed(rest)} before and after"
        return f"the statuses of the right responses{at} changed: {changes}"


def mixed(statuses: Statuses) -> str:
    """The mixture in words: "200", "79 % 302 and 21 % 200"."""
    total = sum(statuses.values())
    parts = sorted(((n, status) for status, n in statuses.items() if n), reverse=True)
    if len(parts) == 1:
        return parts[0][1]
    named = [f"{percent(n / total)} {status}" for n, status in parts[:MAX_NAMED]]
    others = sum(n for n, _ in parts[MAX_NAMED:])
    return listed([*named, *([f"{percent(others / total)} others"] if others else [])])


def statuses_of(trials: Iterable[TrialData]) -> dict[str, dict[str, int]]:
    """The right responses of trials of one workload; empty for older records, and without statuses."""
    return added(
        {request["name"]: statuses}
        for data in trials
        for number, request in enumerate(data.workload().get("requests", []))
        if (statuses := data.statuses(MEASURED, number))
    )


def added(parts: Iterable[ByRequest]) -> dict[str, dict[str, int]]:
    """All of them together."""
    found: dict[str, Counter[str]] = {}
    for part in parts:
        for name, statuses in part.items():
            found.setdefault(name, Counter()).update(statuses)
    return {name: dict(counts) for name, counts in found.items()}


def contrast(ours: ByRequest, theirs: ByRequest, places: tuple[str, str]) -> str:
    """How the right responses of two sides differ: "302 on a, 200 on b"; "" if they are mixed alike.

    `places`: in words, "on a". Of several requests, the first one that differs is told, with its name.
    """
    for request, statuses in ours.items():
        others = theirs.get(request, {})
        if apart(statuses, others, pairs=len(ours)):
            of = f" for {request}" if len(ours) > 1 else ""
            return f"{mixed(statuses)}{of} {places[0]}, {mixed(others)} {places[1]}"
    return ""


def change_of_statuses(data: TrialData) -> StatusChange | None:
    """The change with the most evidence among the requests of the measured workload, if there is one."""
    by_request: dict[int, list[str]] = {}
    for request, status in data.counts.answered:
        by_request.setdefault(request, []).append(status)
    found: list[tuple[Stretch, int]] = []
    for request, statuses in by_request.items():
        kinds = (data.counts.answered[request, status] for status in statuses)
        if stretch := unlike_the_rest(kinds, series=len(by_request)):
            found.append((stretch, request))
    if not found:
        return None
    stretch, request = max(found, key=lambda one: one[0].evidence)
    names = [one["name"] for one in data.workload().get("requests", [])]
    return StatusChange(
        request=names[request] if len(names) > 1 else "",
        start_s=float(data.counts.start_ns[stretch.start]) / 1e9,
        end_s=float(data.counts.end_ns[stretch.end - 1]) / 1e9,
        before=_counted(data, request, 0, stretch.start),
        within=_counted(data, request, stretch.start, stretch.end),
        after=_counted(data, request, stretch.end, len(data.counts.end_ns)),
    )


def _counted(data: TrialData, request: int, start: int, end: int) -> Statuses:
    """The statuses of a request's right responses in the intervals from `start` up to `end`."""
    return {
        status: int(column[start:end].sum())
        for (whose, status), column in data.counts.answered.items()
        if whose == request and column[start:end].any()
    }
