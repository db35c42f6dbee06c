"""What the record of an ordinary run says of its slow requests, without any probe: which route they are of,
when they come, what they have in common, whether the server stood still.

Per-request rows say all of it. Without them, the longest response of each interval shows when something was
slow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats.sample import Bools, Floats
from jostle.analysis.trials.data import MAX_ROWS, MEASURED, TrialData
from jostle.errors import PlanError
from jostle.explain.answer import answer
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding, felt_s
from jostle.explain.probes.pauses import pauses
from jostle.explain.probes.rare import rare_responses
from jostle.explain.reason import Reason
from jostle.explain.results import Explanation, RouteEntry, StreamPoint
from jostle.explain.slow_responses.common import Common, in_common
from jostle.explain.slow_responses.in_flight import beside_one
from jostle.explain.slow_responses.periods import periods
from jostle.explain.slow_responses.rare import rare
from jostle.explain.slow_responses.requests import Requests
from jostle.formatting import amount, listed, percent, plural, with_range
from jostle.record import RunRecord
from jostle.record.outcomes import Outcome

__all__ = ["explain_run", "slowest"]

SLOWEST = 0.01
"""The share of the requests that is compared with all others."""

MIN_ROWS = 400
"""Among fewer requests the slowest 1 % are too few."""

MAX_COMMON = 2
"""How many things are told that the slowest have in common."""

LONGER = 3.0
"""The slowest are slow if they take this many times as long as the slowest route usually does."""

COLUMNS = ["request", "client", "intended_ns", "sent_ns", "end_ns", "outcome", "bytes"]


@dataclass(frozen=True)
class _Cell:
    """The trials of one contestant and workload; `chosen`: the one with the most requests."""

    name: str
    chosen: TrialData
    trials: int


def explain_run(record: RunRecord) -> Explanation:
    """Reads the rows or the intervals of each contestant and workload. Raises `PlanError` if there is nothing
    to read.
    """
    cells = _cells(record)
    if not cells:
        raise PlanError(
            f"{record.folder} has nothing to explain: no trial ended with responses",
            "jostle report says what became of its trials",
        )
    findings: list[Finding] = []
    routes: list[RouteEntry] = []
    points: list[StreamPoint] = []
    n = 0
    for cell in cells:
        requests, sizes = _requests(cell.chosen)
        where = f"{cell.name}: " if len(cells) > 1 else ""
        own = list(_from_rows(requests, sizes) if len(requests) >= MIN_ROWS else _from_intervals(cell))
        findings += [_of_cell(one, where) for one in own]
        n += cell.chosen.ok()
        usual = requests.usual_s()
        named = zip(requests.names, usual.tolist(), strict=True)
        routes += [RouteEntry(f"{where}{name}", "measured", usual_s) for name, usual_s in named]
        if not points:
            points = _points(requests)
    found_ = answer(findings, ())
    first = cells[0].chosen.trial.description
    return Explanation(
        target=str(record.folder),
        url=(server.get("url") or "") if (server := first.get("server")) else "",
        server="",
        started_unix_ns=int(first.get("started_unix_ns") or 0),
        seconds=sum(cell.chosen.duration_s for cell in cells),
        requests=n,
        connections=max(int(cell.chosen.counts.connections.max()) for cell in cells),
        protocol="",
        limits="",
        cores=None,
        pressure=None,
        routes=routes,
        paragraph=found_.paragraph,
        findings=findings,
        stream=points,
        absent=found_.absent,
        unknown=found_.unknown,
    )


def _cells(record: RunRecord) -> list[_Cell]:
    """One for each contestant and workload that answered anything."""
    by_name: dict[str, list[TrialData]] = {}
    contestants = {trial.contestant for trial in record.trials}
    for trial in record.trials:
        data = TrialData(trial)
        if data.usable and data.ok():
            who = f"{trial.contestant}, " if len(contestants) > 1 else ""
            by_name.setdefault(f"{who}{trial.workload}", []).append(data)
    return [
        _Cell(name, max(those, key=lambda data: data.ok()), len(those)) for name, those in by_name.items()
    ]


def _requests(data: TrialData) -> tuple[Requests, Floats]:
    """The answered requests of a trial in the order in which they were sent, and the sizes of their
    responses; none if there are no rows.
    """
    rows = data.trial.rows(COLUMNS, at_most=MAX_ROWS)
    if rows is None:
        return Requests.of([]), np.array([])
    rows = rows.chosen(rows.are("outcome", Outcome.OK.value)).sorted_by("sent_ns")
    names = [rows.names["request"][number] for number in rows["request"].tolist()]
    known = tuple(dict.fromkeys(names))
    places = {name: place for place, name in enumerate(known)}
    ns = {name: rows[name].astype(float) / 1e9 for name in ("sent_ns", "end_ns")}
    requests = Requests(
        known,
        np.array([places[name] for name in names], dtype=np.int64),
        rows["client"].astype(np.int64),
        ns["sent_ns"],
        ns["end_ns"],
    )
    return requests, rows["bytes"].astype(float)


def _of_cell(finding: Finding, where: str) -> Finding:
    return replace(finding, says=f"{where}{finding.says}") if where else finding


def _points(requests: Requests) -> list[StreamPoint]:
    """The slowest, and every so many-th of the others."""
    took = requests.took_s
    step = max(1, len(requests) // 2000)
    shown = {*np.argsort(-took)[:200].tolist(), *range(0, len(requests), step)}
    return [
        StreamPoint(float(requests.sent_s[place]), float(took[place]), requests.names[requests.route[place]])
        for place in sorted(shown)
    ]


def _from_rows(requests: Requests, sizes: Floats) -> Iterator[Finding]:
    slow, left = rare(requests)
    yield from rare_responses(requests, slow)
    yield from pauses(requests, left, None)
    yield slowest(requests, sizes)
    for name in requests.names:
        beside = beside_one(requests, name)
        usual = float(np.median(requests.took_s[requests.route == requests.names.index(name)]))
        held = beside.held_s(Estimate(usual))
        if beside.waits and felt_s(held.value or 0.0):
            when = f"{amount(usual, 's')}" if beside.whole else f"{with_range(held)} of {amount(usual, 's')}"
            yield decided_finding(
                Topic.BLOCKING,
                f"While {name} is being answered, for {when}, others wait: "
                f"{percent(beside.share.value)} of those that were sent meanwhile ended no sooner.",
                [f"{beside.waited} of {plural(beside.met, 'request')}."],
                {"held up": held, "share": beside.share},
                hurts_s=held.value or 0.0,
            )


def slowest(requests: Requests, sizes: Floats) -> Finding:
    """What the slowest 1 % have in common. `sizes`: bytes of each response; empty if not known."""
    took = requests.took_s
    n = max(4, round(SLOWEST * len(requests)))
    limit = float(np.sort(took)[-n])
    slow: Bools = took >= limit
    everything: Bools = np.ones(len(requests), dtype=bool)
    common = in_common(requests, slow, everything, sizes)
    evidence = [one.evidence for one in common[:8]]
    about = (
        f"The slowest 1 % took {amount(limit, 's')} or more, the median {amount(float(np.median(took)), 's')}"
    )
    if not common:
        return decided_finding(
            Topic.SLOWEST,
            f"{about}; they have nothing in common that the record shows.",
            [f"{int(slow.sum())} of {plural(len(requests), 'request')}."],
            absent="something that the slowest 1 % have in common",
        )
    properties = listed([_common(one) for one in _distinct(common)])
    return decided_finding(
        Topic.SLOWEST,
        f"{about}; {properties}.",
        evidence,
        {"from": Estimate(limit, n=len(requests))},
        # What takes long whenever it is asked for is no fault that the slowest have in common.
        hurts_s=SLOWEST * limit if limit >= LONGER * float(requests.usual_s().max()) else 0.0,
    )


def _distinct(common: Sequence[Common]) -> list[Common]:
    """The clearest of each kind: many thresholds say the same."""
    kinds: dict[str, Common] = {}
    for one in common:
        kinds.setdefault(" ".join(one.what.split()[:2]), one)
    return list(kinds.values())[:MAX_COMMON]


def _common(one: Common) -> str:
    others = percent(one.others / one.n_others) if one.n_others else "none"
    return f"{percent(one.slow / one.n_slow)} of them came {one.what} (of the others {others})"


def _from_intervals(cell: _Cell) -> Iterator[Finding]:
    """What the longest response of each interval shows: when something was slow, whether it is regular."""
    data = cell.chosen
    keep = "rows = true in the workload of the plan, which keeps a row for each request"
    yield cannot_tell(Topic.RARE, Reason.NO_ROWS, "the run kept no row for each request", keep)
    yield cannot_tell(Topic.SLOWEST, Reason.NO_ROWS, "the run kept no row for each request", keep)
    ends, longest = _longest(data)
    if len(longest) < MIN_INTERVALS:
        few = f"there are only {plural(len(longest), 'interval')}"
        yield cannot_tell(Topic.PAUSES, Reason.NO_ROWS, few, keep)
        return
    middle = float(np.median(longest))
    late = longest > TIMES * middle
    times = (ends - longest / 2)[late]
    regular = periods(times.tolist(), data.duration_s)
    evidence = [
        f"In {int(late.sum())} of {plural(len(longest), 'interval')} the longest response took more than "
        f"{TIMES:g} times the usual longest one, {amount(middle, 's')}."
    ]
    if not regular:
        yield decided_finding(
            Topic.PAUSES,
            "No period was found in the longest responses of the intervals.",
            evidence,
            absent="slow responses at a period",
        )
    for one in regular:
        length = longest[late][list(one.places)]
        typical = Estimate(float(np.median(length)), float(length.min()), float(length.max()), n=len(length))
        yield decided_finding(
            Topic.PAUSES,
            f"Every {with_range(one.every)} a response takes {with_range(typical)}, where the longest "
            f"usually takes {amount(middle, 's')}.",
            evidence,
            {"every": one.every, "longest": typical},
            hurts_s=(typical.value or 0.0) ** 2 / one.every_s,
        )


MIN_INTERVALS = 20
TIMES = 3.0
"""An interval is late if its longest response takes this many times as long as usual."""


def _longest(data: TrialData) -> tuple[Floats, Floats]:
    """When each interval ended, and its longest response, of those that have any, in seconds."""
    ends, longest = [], []
    for line in data.trial.intervals:
        found_us = [
            series["histograms"]["response"]["max_us"]
            for series in line["series"]
            if series["workload"] == MEASURED and "response" in series["histograms"]
        ]
        if found_us:
            ends.append(line["end_ns"] / 1e9)
            longest.append(max(found_us) / 1e6)
    return np.array(ends), np.array(longest)
