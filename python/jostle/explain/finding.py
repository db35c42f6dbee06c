"""What a probe finds: a decided finding, or "cannot tell" with the reason and a remedy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from jostle.analysis.results import Estimate
from jostle.explain import discipline
from jostle.formatting import plural, tallied
from jostle.record.outcomes import outcome_label

__all__ = ["Finding", "Named", "Reason", "Topic", "cannot_tell", "found", "undecided", "unless_away"]


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


class Reason(StrEnum):
    """Why something cannot be told."""

    NO_ROUTE = "no route to ask it with"
    TOO_FAST = "requests are too short"
    TOO_SLOW = "requests are too long for the time allowed"
    EQUAL_TIMES = "all routes take the same time"
    NOISY = "the times vary too much"
    DRIFTS = "the service time changes while it is measured"
    NOT_SATURATED = "the server was never full"
    NO_FIT = "nothing known behaves like this"
    AMBIGUOUS = "more than one explanation fits"
    FAILED = "requests failed"
    AWAY = "the server did not accept connections"
    REFUSED = "the server refused requests"
    GENERATOR = "the generator was late"
    INTERMEDIARY = "something stands between"
    NOT_OURS = "jostle did not start the server"
    NOT_ASKED = "it was not asked for"
    NO_TIME = "the time allowed was over"


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


BECAUSE: dict[discipline.Reason, tuple[Reason, str]] = {
    discipline.Reason.UNSATURATED: (
        Reason.NOT_SATURATED,
        "the server had room for all requests of the largest burst",
    ),
    discipline.Reason.EQUAL_SIZES: (Reason.EQUAL_TIMES, "all requests of the bursts took the same time"),
    discipline.Reason.TOO_NOISY: (Reason.NOISY, "the same requests took different times"),
    discipline.Reason.NOT_STATIONARY: (Reason.DRIFTS, "the service time changed meanwhile"),
    discipline.Reason.NO_CANDIDATE_FITS: (Reason.NO_FIT, "no discipline that jostle knows answers like this"),
    discipline.Reason.TOO_ALIKE: (Reason.AMBIGUOUS, "two disciplines would have answered alike"),
    discipline.Reason.UNANSWERED: (Reason.REFUSED, "most requests were refused or not answered"),
    discipline.Reason.DIVIDED: (
        Reason.AMBIGUOUS,
        "some short requests overtook long ones and others did not",
    ),
}
"""The inference's reasons, translated into the reasons and words of findings."""


def undecided(
    topic: Topic,
    reason: discipline.Reason | None,
    evidence: Sequence[str],
    figures: Mapping[str, Estimate] | None = None,
) -> Finding:
    """A finding for what the inference could not tell. `reason` None: it had nothing to work with."""
    if reason is None:
        return cannot_tell(topic, Reason.NO_TIME, "there was no time left for it", "fewer routes", evidence)
    found_reason, because = BECAUSE[reason]
    return cannot_tell(topic, found_reason, because, discipline.REMEDIES[reason], evidence, figures)
