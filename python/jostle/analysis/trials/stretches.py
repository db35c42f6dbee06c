"""The parts of a load that was changed while it ran, between one change and the next."""

from collections.abc import Sequence

from jostle.analysis.results import Phase
from jostle.record.steered import SteeredEntry, described

__all__ = ["stretches"]


def stretches(steered: Sequence[SteeredEntry], end_s: float) -> list[Phase]:
    """A part for each change, named for what the load does in it, and one before the first.

    A change takes the place of all that was to come after its moment, earlier ones included.
    """
    begun: list[tuple[float, str]] = [(0.0, "as planned")]
    for one in steered:
        at_s = one["at_ns"] / 1e9
        begun = [(start_s, name) for start_s, name in begun if start_s < at_s]
        begun.append((at_s, described(one)))
    ends = [*(start_s for start_s, _ in begun[1:]), end_s]
    parts = zip(begun, ends, strict=True)
    return [Phase(name, start_s, min(end, end_s)) for (start_s, name), end in parts if start_s < end_s]
