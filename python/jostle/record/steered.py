"""A load that was changed while it ran: a line of the journal, and of steered.ndjson of its trial."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from jostle.formatting import plural
from jostle.record.values import Count, Finite, Ns, Text
from jostle.units import format_rate

__all__ = ["SteeredEntry", "described"]


class _Steered(TypedDict):
    workload: Text
    change: Text
    """As it was written: "rate=500/s", "x1.1", "hold"."""
    by: Text
    """Where it came from: "terminal", "command", "page", "python"."""
    at_ns: Ns
    """From when on, from the start of the trial."""
    unreached: list[Text]
    """Why a generator's share was not changed, or not at that moment: a sentence for each."""


class RateSteered(_Steered):
    """An open load: requests were due at this rate from then on."""

    what: Literal["rate"]
    per_s: Finite


class ClientsSteered(_Steered):
    """A closed load: there were so many clients from then on."""

    what: Literal["clients"]
    clients: Count


class PhaseSteered(_Steered):
    """A phase, or the next of the rates, began. `phase`: its number, from 0."""

    what: Literal["phase"]
    phase: Count
    name: Text
    """"" if it has none."""


SteeredEntry = TypeAliasType(
    "SteeredEntry", Annotated[RateSteered | ClientsSteered | PhaseSteered, Field(discriminator="what")]
)
"""What a load did from some moment on, because somebody changed it."""


def described(steered: SteeredEntry) -> str:
    """What the load did from then on: "500/s", "50 clients", "ramp-down"."""
    match steered["what"]:
        case "rate":
            return format_rate(steered["per_s"])
        case "clients":
            return plural(steered["clients"], "client")
        case "phase":
            return steered["name"] or f"phase {steered['phase'] + 1}"
