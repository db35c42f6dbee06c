"""A line of journal.ndjson: what happened in a run, and when. Which keys it has depends on the event."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from jostle.record.lost_generator import LostGenerator
from jostle.record.steered import SteeredEntry
from jostle.record.values import Count, Finite, Ns, Number, Text

__all__ = [
    "EarlierSpread",
    "Event",
    "Fingerprint",
    "JournalEntry",
    "LookedAt",
    "RunResumed",
    "RunStopped",
    "TrialOver",
    "TrialPlanned",
    "TrialSetAside",
]


class Fingerprint(TypedDict):
    """The number of bytes of a complete file, and their CRC-32 (8 hexadecimal digits).

    It tells a damaged file from an intact one, but not who wrote it.
    """

    bytes: Count
    crc32: Annotated[str, Field(pattern="^[0-9a-f]{8}$")]


class _Line(TypedDict):
    at: Ns
    crc32: NotRequired[str]


class RunStarted(_Line):
    """A run began."""

    event: Literal["run started"]
    seed: Ns
    contestants: NotRequired[list[Text]]
    base: NotRequired[Text]
    """The path from the run's folder to the one that the plan's commands count from; absolute in older
    runs."""
    files: NotRequired[dict[str, Fingerprint]]
    """Of plan.toml and host.json."""


class EarlierSpread(TypedDict):
    """How much the rounds of a cell varied in earlier runs: the standard deviation of the metric's logarithm,
    and the degrees of freedom with which it is known.
    """

    contestant: Text
    workload: Text
    metric: Text
    sd: Finite
    df: Finite


class EarlierRuns(_Line):
    """What complete runs of the same plan on this machine said before this one began, and their number."""

    event: Literal["earlier runs"]
    runs: Count
    spreads: list[EarlierSpread]


class ContestantSkipped(_Line):
    """`workload`: if it is skipped in that one alone."""

    event: Literal["contestant skipped"]
    contestant: Text
    why: Text
    workload: NotRequired[Text]


class TrialPlanned(_Line):
    event: Literal["trial planned"]
    number: Number
    contestant: Text
    workload: Text
    round: Number


class TrialStarted(_Line):
    event: Literal["trial started"]
    number: Number


class GeneratorLost(_Line, LostGenerator):
    """`number` of the trial."""

    event: Literal["generator lost"]
    number: Number


class LoadSteered(_Line):
    """Somebody changed the load of the trial `number` while it ran."""

    event: Literal["load steered"]
    number: Number
    steered: SteeredEntry


class TrialOver(_Line):
    """A trial ended, or was cut short."""

    event: Literal["trial ended", "trial failed", "trial cut short"]
    number: Number
    why: NotRequired[Text]
    verdict: NotRequired[Text]
    """If the trial ended."""
    outcome: NotRequired[Fingerprint]
    """Of outcome.json."""


class ExtraRoundsPlanned(_Line):
    """In format 1 it was "cell repeated"."""

    event: Literal["extra rounds planned", "cell repeated"]
    contestant: Text
    workload: Text
    why: NotRequired[Text]


class RunResumed(_Line):
    """A run was taken up again."""

    event: Literal["run resumed"]
    done: Number
    """The number of trials that were done."""
    left: Number
    """The number of trials that were left."""
    host: dict[str, Any]
    """Facts of the machine."""


class TrialSetAside(_Line):
    """`why`, `causes` ("generator", "machine"): if it was spoiled."""

    event: Literal["trial set aside"]
    number: Number
    folder: Text
    why: NotRequired[Text]
    causes: NotRequired[list[Text]]


class RepeatsGivenUp(_Line):
    event: Literal["repeats given up"]
    why: NotRequired[Text]


class LookedAt(_Line):
    """After a round of a run that continues until all is decided."""

    event: Literal["looked at"]
    round: Number
    why: Text


class PlanExtended(_Line):
    """With further workloads. `files`: plan.toml."""

    event: Literal["plan extended"]
    files: dict[str, Fingerprint]


class RunStopped(_Line):
    event: Literal["run stopped"]
    why: NotRequired[Text]


class RunMark(_Line):
    """run waits: other runs have their turn until the next event."""

    event: Literal["run waits", "run ended"]


JournalEntry = TypeAliasType(
    "JournalEntry",
    Annotated[
        RunStarted
        | EarlierRuns
        | ContestantSkipped
        | TrialPlanned
        | TrialStarted
        | GeneratorLost
        | LoadSteered
        | TrialOver
        | ExtraRoundsPlanned
        | RunResumed
        | TrialSetAside
        | RepeatsGivenUp
        | LookedAt
        | PlanExtended
        | RunStopped
        | RunMark,
        Field(discriminator="event"),
    ],
)
"""A line of journal.ndjson: what happened, and when. Which other keys there are depends on the event."""

Event = Literal[
    "run started",
    "earlier runs",
    "contestant skipped",
    "trial planned",
    "trial started",
    "generator lost",
    "load steered",
    "trial ended",
    "trial failed",
    "trial cut short",
    "cell repeated",
    "extra rounds planned",
    "run resumed",
    "trial set aside",
    "repeats given up",
    "looked at",
    "run waits",
    "plan extended",
    "run stopped",
    "run ended",
]
