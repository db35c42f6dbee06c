"""What the load of a trial is at a moment, and how far it can be changed: where a slider stands, and ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jostle.generator.highest_rate import HighestRate
from jostle.host.limits import connections_within, open_files
from jostle.live.state import TrialState
from jostle.record import TrialRecord

__all__ = ["CurrentLoad"]

MAX_CLIENTS = 1_000_000
"""The end of a slider where open files are not limited."""

NS = 1_000_000_000


@dataclass(frozen=True)
class CurrentLoad:
    """The measured load of one trial."""

    what: Literal["rate", "clients"]
    most: float
    """More than this the generators of this machine certainly cannot send, or hold."""
    steps: Sequence[Mapping[str, Any]]
    """As planned, in order: `from` and `to` per second of an open load, `clients` of a closed one."""

    @classmethod
    def of(cls, record: TrialRecord) -> "CurrentLoad | None":
        """None if nothing is known of it."""
        engine = record.description.get("engine")
        if not engine:
            return None
        generators = record.description.get("generators", ())
        load = engine["workloads"][0]["load"]
        if "open" in load:
            here = not any(generator.get("host") for generator in generators)
            most = HighestRate.of(int(engine["threads"]), here=here).per_s
            return cls("rate", most, load["open"].get("rates") or [])
        files = open_files().hard
        room = MAX_CLIENTS if files is None else connections_within(files) * max(1, len(generators))
        closed = load["closed"]
        return cls("clients", max(1, room), closed.get("phases") or [closed])

    def now(self, state: TrialState) -> dict[str, Any]:
        """`value`: as it was changed last, or as it is planned at this moment."""
        last = state.steered[-1] if state.steered else None
        value: float | None = None
        if last is not None and last["what"] == "rate":
            value = last["per_s"]
        elif last is not None and last["what"] == "clients":
            value = last["clients"]
        elif last is not None:
            value = self._beginning(last["phase"])
        else:
            value = self._planned(state.over_s)
        return {"what": self.what, "value": value, "most": self.most}

    def _planned(self, at_s: float) -> float | None:
        for number, step in enumerate(self.steps):
            length_s = (step.get("duration_ns") or 0) / NS
            if at_s < length_s or number == len(self.steps) - 1:
                begin, end = self._beginning(number), step.get("to")
                if begin is None or end is None or not length_s:
                    return begin
                return begin + (float(end) - begin) * min(1.0, at_s / length_s)
            at_s -= length_s
        return None

    def _beginning(self, number: int) -> float | None:
        found = self.steps[number].get("from", self.steps[number].get("clients"))
        return None if found is None else float(found)
