"""What a probe finds: a decided finding, or "undecided" with the reason and a remedy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from jostle.analysis.results import Estimate
from jostle.explain.reason import Reason
from jostle.formatting import plural, tallied
from jostle.record.outcomes import outcome_label

__all__ = ["UNDECIDED", "Finding", "Named", "Topic", "cannot_tell", "found", "undecided", "unless_away"]


class Topic(StrEnum):
    """The questions, in the order in which the findings are shown."""

    DISCIPLINE = "discipline"
    SERVICE_TIME = "service time"
    CPU = "CPU or waiting"
    PARALLELISM = "parallelism"
    OVERTAKING = "overtaking"
    LEAVING = "when answers leave"
    SLOTS = "slots for waiting requests"
    BLOCKING = "who waits behind whom"
    PAUSES = "pauses"
    RATE_LIMIT = "rate limit"
    QUEUE_LIMIT = "queue limit"
    RECOVERY = "recovery from overload"
    GONE = "work for clients that have gone"
    DELAYED_BODY = "delay between head and body"
    WARM_UP = "warm-up"
    CACHE = "cache"
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

    `says`: the finding as a sentence. Undecided findings have a `reason`, and `would_tell` says what would
    help. `notable`: False if it only says that nothing unusual was seen. `evidence`: what was sent and
    observed, one sentence each.
    """

    topic: Topic
    says: str
    decided: bool
    reason: Reason | None = None
    would_tell: str = ""
    notable: bool = True
    figures: list[Named] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)

    def figure(self, name: str) -> Estimate | None:
        """The figure called `name`, if there is one."""
        return next((named.figure for named in self.figures if named.name == name), None)


def found(
    topic: Topic,
    says: str,
    evidence: Sequence[str] = (),
    figures: Mapping[str, Estimate] | None = None,
    *,
    notable: bool = True,
) -> Finding:
    """A decided finding. `figures`: by name."""
    return Finding(
        topic, says, decided=True, notable=notable, figures=_named(figures), evidence=list(evidence)
    )


def cannot_tell(
    topic: Topic,
    reason: Reason,
    because: str,
    would_tell: str,
    evidence: Sequence[str] = (),
    figures: Mapping[str, Estimate] | None = None,
) -> Finding:
    """An undecided finding. `because`: continues the sentence "Cannot tell, because …"."""
    return Finding(
        topic,
        f"Cannot tell, because {because}.",
        decided=False,
        reason=reason,
        would_tell=would_tell,
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
        "all requests of the bursts took the same time",
        "name a second route that takes another time, such as a quarter of the longest; those of less than "
        "2 ms are too short for a burst",
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
        "no discipline that jostle knows responses like this",
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


def undecided(
    topic: Topic,
    reason: Reason | None,
    evidence: Sequence[str],
    figures: Mapping[str, Estimate] | None = None,
) -> Finding:
    """A finding for what the inference could not tell. `reason` None: it had nothing to work with."""
    if reason is None:
        return cannot_tell(topic, Reason.NO_TIME, "there was no time left for it", "fewer routes", evidence)
    because, would_tell = UNDECIDED[reason]
    return cannot_tell(topic, reason, because, would_tell, evidence, figures)
