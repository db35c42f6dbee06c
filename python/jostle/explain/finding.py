"""What a probe finds: a decided finding, or "undecided" with the reason and a remedy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from jostle.analysis.results import Estimate
from jostle.explain.reason import Reason
from jostle.formatting import plural, tallied
from jostle.record.outcomes import outcome_label

__all__ = [
    "MIN_FELT_S",
    "UNDECIDED",
    "Finding",
    "Named",
    "Topic",
    "cannot_tell",
    "decided_finding",
    "felt_s",
    "out_of_time",
    "undecided",
    "unless_away",
]


MIN_FELT_S = 0.010
"""Who delays others by less than this is no fault."""


def felt_s(seconds: float) -> float:
    """A delay as it counts for `Finding.hurts_s`: 0 if it is too short to be a fault."""
    return seconds if seconds >= MIN_FELT_S else 0.0


class Topic(StrEnum):
    """The questions, in the order in which the findings are shown."""

    AWAY = "a server that went away"
    WRONG = "responses that changed"
    DISCIPLINE = "order of service"
    SERVICE_TIME = "service time"
    CPU = "CPU or waiting"
    PARALLELISM = "requests at once"
    RARE = "rare slow responses"
    SLOWEST = "the slowest 1 %"
    OVERTAKING = "overtaking"
    LEAVING = "when responses leave"
    SLOTS = "how many at a time"
    STREAMS = "streams of one connection"
    BLOCKING = "who waits behind whom"
    PAUSES = "pauses"
    RATE_LIMIT = "rate limit"
    QUEUE_LIMIT = "queue limit"
    RECOVERY = "recovery from overload"
    GONE = "work for clients that have gone"
    DELAYED_BODY = "delay between head and body"
    WARM_UP = "warm-up"
    CACHE = "cache"
    BY_PARAMETER = "time by parameter"
    IDLE = "first request after idle time"
    CONNECTING = "opening connections"
    MEMORY = "memory"
    KEEP_ALIVE = "keep-alive"
    INTERMEDIARY = "intermediary"


@dataclass(frozen=True)
class Named:
    """A figure with its name."""

    name: str
    figure: Estimate


@dataclass(frozen=True)
class Finding:
    """What was found about one topic.

    `says`: the finding in a sentence or two, in the words of one who is on call. Undecided findings have a
    `reason`, `would_tell` says what would help, and `option` which option of the command that is, if one is.
    `notable`: False if it only says that nothing unusual was seen. `hurts_s`: by how much it delays requests,
    in seconds, times the share of requests that it delays; 0 if it is no fault. `cure`: what to do about a
    fault, a sentence. `absent`: what was looked for and not found, as a part of a list. `suspicion`: a
    sentence about a fault of which an undecided finding has seen signs. `evidence`: what was sent and
    observed, one sentence each.
    """

    topic: Topic
    says: str
    decided: bool
    reason: Reason | None = None
    would_tell: str = ""
    option: str = ""
    notable: bool = True
    hurts_s: float = 0.0
    cure: str = ""
    absent: str = ""
    suspicion: str = ""
    figures: list[Named] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)

    def figure(self, name: str) -> Estimate | None:
        """The figure called `name`, if there is one."""
        return next((named.figure for named in self.figures if named.name == name), None)


def decided_finding(
    topic: Topic,
    says: str,
    evidence: Sequence[str] = (),
    figures: Mapping[str, Estimate] | None = None,
    *,
    notable: bool = True,
    hurts_s: float = 0.0,
    cure: str = "",
    absent: str = "",
) -> Finding:
    """A decided finding. `figures`: by name; for the others see `Finding`."""
    return Finding(
        topic,
        says,
        decided=True,
        notable=notable and not absent,
        hurts_s=hurts_s,
        cure=cure if hurts_s else "",
        absent=absent,
        figures=_named(figures),
        evidence=list(evidence),
    )


def cannot_tell(
    topic: Topic,
    reason: Reason,
    because: str,
    would_tell: str,
    evidence: Sequence[str] = (),
    figures: Mapping[str, Estimate] | None = None,
    *,
    option: str = "",
    suspicion: str = "",
) -> Finding:
    """An undecided finding. `because`: continues the sentence "Cannot tell, because …". `option`: what to add
    to the command, such as "--slow PATH". `suspicion`: see `Finding`.
    """
    return Finding(
        topic,
        f"Cannot tell, because {because}.",
        decided=False,
        reason=reason,
        would_tell=would_tell,
        option=option,
        suspicion=suspicion,
        figures=_named(figures),
        evidence=list(evidence),
    )


ABOUT_THE_QUESTION = (
    Reason.NO_ROUTE, Reason.TOO_FAST, Reason.TOO_SLOW, Reason.NOT_OURS, Reason.NOT_ASKED, Reason.NO_TIME,
)  # fmt: skip
"""Reasons that hold whatever became of the requests."""


def unless_away(finding: Finding, unconnected: Mapping[str, int]) -> Finding:
    """The finding of a probe, or that it finds nothing: some of its requests could not be connected for, by
    outcome. Whatever is counted in such a probe is not the server's usual behaviour.
    """
    if not unconnected or finding.reason in ABOUT_THE_QUESTION:
        return finding
    kinds = tallied({outcome_label(kind): n for kind, n in unconnected.items()})
    return cannot_tell(
        finding.topic,
        Reason.AWAY,
        f"the server was away meanwhile: {plural(sum(unconnected.values()), 'request')} of this probe could "
        f"not connect ({kinds})",
        "a server that runs throughout: look at its log, and explain it once more",
    )


def _named(figures: Mapping[str, Estimate] | None) -> list[Named]:
    return [Named(name, figure) for name, figure in (figures or {}).items()]


UNDECIDED: Mapping[Reason, tuple[str, str]] = {
    Reason.NOT_SATURATED: (
        "the server had room for all requests of the largest burst",
        "send more requests at once: with these the server had a worker or a core for each",
    ),
    Reason.EQUAL_TIMES: (
        "only one length of request was asked for in bursts",
        "a second route that takes another time, such as a quarter of the longest; those of less than 2 ms "
        "are too short for a burst",
    ),
    Reason.NOISY: (
        "the same requests took different times",
        "measure on a quiet machine, or name longer requests: repeated bursts took other times",
    ),
    Reason.DRIFTS: (
        "the service time changed meanwhile",
        "warm the server up for longer: its service times changed meanwhile",
    ),
    Reason.NO_FIT: (
        "no discipline that jostle knows responds like this",
        "look at the staircase: the server does something that jostle has no model of",
    ),
    Reason.AMBIGUOUS: (
        "two disciplines would have answered alike",
        "send more bursts, or more requests at once: two disciplines would have answered alike",
    ),
    Reason.REFUSED: (
        "most requests were refused or not answered",
        "send fewer requests at once: most were refused or not answered",
    ),
    Reason.DIVIDED: (
        "some short requests overtook long ones and others did not",
        "name requests whose times differ more: only some short ones overtook long ones",
    ),
}
"""What the bursts may leave undecided: why, and what the user can do."""


OPTIONS: Mapping[Reason, str] = {Reason.EQUAL_TIMES: "--slow PATH", Reason.NOT_SATURATED: "--thorough"}
"""What to add to the command."""


def undecided(
    topic: Topic,
    reason: Reason | None,
    evidence: Sequence[str],
    figures: Mapping[str, Estimate] | None = None,
) -> Finding:
    """A finding for what the inference could not tell. `reason` None: it had nothing to work with."""
    if reason is None or reason is Reason.NO_TIME:
        return out_of_time(topic, evidence)
    because, would_tell = UNDECIDED[reason]
    return cannot_tell(topic, reason, because, would_tell, evidence, figures, option=OPTIONS.get(reason, ""))


def out_of_time(topic: Topic, evidence: Sequence[str] = ()) -> Finding:
    """The finding of a probe that was not sent, or not sent to its end."""
    return cannot_tell(
        topic, Reason.NO_TIME, "there was no time left for it", "more time", evidence, option="--budget"
    )
