"""What is said of a load that was changed."""

from dataclasses import asdict, dataclass
from typing import Any

from jostle.record.steered import SteeredEntry, described
from jostle.units import format_duration

__all__ = ["Acknowledgement"]


@dataclass(frozen=True)
class Acknowledgement:
    """A change that was made, and recorded. `str` is a sentence for its user."""

    trial: int
    """The trial's number in its run."""
    contestant: str
    at_unix_ns: int
    """From when on, by the wall clock."""
    steered: SteeredEntry
    """As in the record: `what` it does from `at_ns` after the start of the trial on."""

    def __str__(self) -> str:
        at = format_duration(self.steered["at_ns"] / 1e9)
        made = f"{self.contestant}, {self.steered['workload']}: {described(self.steered)} from {at} on"
        return "\n".join([made, *self.steered["unreached"]])

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
