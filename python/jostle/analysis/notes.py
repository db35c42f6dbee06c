"""What a reader must know of a run beside its figures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jostle.analysis.stats.sequential import ConfidenceRule, fixed
from jostle.analysis.summaries.counted import note
from jostle.analysis.summaries.looks import looks_of
from jostle.analysis.topics.floor import floor_note
from jostle.analysis.topics.protocols.dismissals import dismissals_note
from jostle.analysis.topics.server.backlog import backlog_note
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity import lateness, wake_up
from jostle.formatting import listed, plural
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.units import format_count, format_duration

__all__ = ["notes_of", "of_the_generator"]

MAX_REPEATS_SHOWN = 3

FEW_CUT_OFF = 0.01
"""If the end of the load cuts off no more requests than this share, that is how every load ends."""

FEW = 100
"""With at least this many requests per client, the first ones no longer matter."""


def notes_of(
    record: RunRecord,
    plan: RecordedPlan,
    data: Sequence[TrialData],
    kept: Sequence[TrialData],
    confidence_rule: ConfidenceRule,
) -> list[str]:
    """A sentence or two each. `kept`: those of the trials that count."""
    return [
        *_unreadable(plan),
        *_times(data),
        *_connections(data),
        *filter(None, [backlog_note(data), dismissals_note(data)]),
        *_generator(data, record.host),
        *_repeated(record),
        *filter(None, [note(data, kept)]),
        *_resumed(record),
        *_extra_rounds(record),
        *_looked_at(record, confidence_rule),
    ]


def of_the_generator(data: Sequence[TrialData], host: Mapping[str, Any]) -> list[str]:
    """How much of the times may be the generator's own: its waking up, and its lateness."""
    return list(filter(None, [wake_up.note(data, host), lateness.note(data)]))


def _total(data: Sequence[TrialData], name: str) -> int:
    return sum(one.total(name) for one in data)


def _times(data: Sequence[TrialData]) -> Iterator[str]:
    """What the response times are of."""
    if any(one.trial.simulated for one in data):
        yield "Simulated: load and servers were calculated. Nothing was measured."
    if any(one.errors or one.given_up.n > FEW_CUT_OFF * one.response.n for one in data):
        yield (
            "Response times cover all requests: one that was not answered counts as at least as long as it "
            "had waited (Kaplan and Meier), and one that failed counts as longer than all others. A quantile "
            "that lies beyond all responses is printed with ≥. Service times cover answered requests only."
        )


def _connections(data: Sequence[TrialData]) -> Iterator[str]:
    """What became of requests on their way."""
    if resumed := _total(data, "resumed"):
        connects = format_count(_total(data, "connects"))
        yield f"TLS sessions were resumed in {format_count(resumed)} of {connects} connects."
    if followed := _total(data, "redirects"):
        yield (
            f"{format_count(followed)} redirects were followed; each led to a request that counts by itself, "
            "in the rates and in the response times."
        )
    if resent := _total(data, "resent"):
        yield (
            f"{plural(resent, 'request')} had to be sent again, because the server announced that it had not "
            "processed them (GOAWAY or REFUSED_STREAM). Their response times count from the intended start, "
            "and their service times from the first send."
        )
    if waits := _total(data, "stream_waits"):
        each = _total(data, "stream_wait_ns") / waits / 1e9
        yield (
            f"{plural(waits, 'request')} waited for a free stream of an HTTP/2 connection before they were "
            f"sent, {format_duration(each)} on average: the server allows no more at once. That time is part "
            "of response times and not of service times."
        )


def _generator(data: Sequence[TrialData], host: Mapping[str, Any]) -> Iterator[str]:
    """What the way in which requests were sent does to the figures."""
    together = (one for one in data if one.closed is not None and one.closed["clients"] > 1)
    if any(one.steady_load and one.ok() < FEW * (one.closed or {})["clients"] for one in together):
        yield (
            "In a closed loop all clients send their first request at once. With so few requests per client, "
            "these first responses influence the quantiles."
        )
    if polling := sum(one.busy_poll for one in data):
        where = "" if polling == len(data) else f" in {polling} of {len(data)} trials"
        yield (
            f"The generator polled instead of sleeping{where}: its wake-up delay is in no time of up to 20 "
            "ms, and is at most 0.3 % of longer ones."
        )
    if not any(one.trial.simulated for one in data) and (floor := floor_note(host, data)):
        yield floor


def _unreadable(plan: RecordedPlan) -> list[str]:
    """What the plan asks for and this version cannot read; requirements and claims say it themselves, too."""
    return [
        f"The recorded plan cannot be read: {one.reason}. None of its requirements and claims is judged."
        if one.key == "plan"
        else f"A [[{one.key}]] of the recorded plan cannot be read, and is left out: {one.reason}."
        for one in plan.unreadable
        if one.key not in ("require", "claim")
    ]


def _repeated(record: RunRecord) -> list[str]:
    """Which trials were measured again, and why."""
    planned = {entry["number"]: entry for entry in record.planned}
    notes, repeated = [], record.repeated
    for entry in repeated[:MAX_REPEATS_SHOWN]:
        trial = planned.get(entry.get("number", 0))
        which = f"{trial['contestant']}, {trial['workload']}, round {trial['round']}" if trial else "a trial"
        notes.append(
            f"Measured again: {which}, because {entry['why']}. The spoiled trial is kept in "
            f"{entry.get('folder', '')} and does not count."
        )
    if (more := len(repeated) - MAX_REPEATS_SHOWN) > 0:
        notes.append(f"{plural(more, 'more repeat')}, at most two of each trial: journal.ndjson says why.")
    if any(entry["event"] == "repeats given up" for entry in record.journal):
        notes.append("Repeating ended when all repeats of one round had been disturbed, too.")
    return notes


def _looked_at(record: RunRecord, confidence_rule: ConfidenceRule) -> list[str]:
    """For a run with rounds until all is decided: how often it was looked at, and why it ended."""
    looks = looks_of(record)
    if not looks:
        return []
    last, intervals = (
        looks[-1],
        "are ordinary ones" if confidence_rule is fixed else "hold under repeated looks",
    )
    return [
        f"Rounds are added until all is decided: {plural(len(looks), 'look')}, the last after round "
        f"{last['round']} ({last['why']}). Intervals {intervals}."
    ]


def _extra_rounds(record: RunRecord) -> list[str]:
    """Which contestants were measured in more rounds than others, and why."""
    workloads: dict[str, list[str]] = {}
    for entry in record.journal:
        if entry["event"] == "extra rounds planned":
            workloads.setdefault(entry["contestant"], []).append(entry["workload"])
    return [
        f"{contestant} was measured in as many rounds again under {listed(names)}: its rounds fell into two "
        "groups."
        for contestant, names in workloads.items()
    ]


def _resumed(record: RunRecord) -> list[str]:
    """Each resumption of the run, and how the machine then differed from the one at the start."""
    notes = []
    for entry in record.resumed:
        other = [
            f"{key.replace('_', ' ')} {value} instead of {record.host.get(key)}"
            for key, value in entry["host"].items()
            if value != record.host.get(key)
        ]
        changed = f"; the machine was not the same: {', '.join(other)}" if other else ""
        notes.append(
            f"The run was resumed with {entry['done']} trials done and {entry['left']} left{changed}."
        )
    return notes
