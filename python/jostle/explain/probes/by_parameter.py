"""How much longer a request takes for each further thing that it asks for: two given routes that differ in
one number of their query, as a list that makes a query for each of its rows does (N + 1 queries).
"""

from collections.abc import Iterator
from itertools import combinations
from urllib.parse import parse_qsl

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, decided_finding
from jostle.explain.session import Session
from jostle.formatting import amount, with_range

__all__ = ["by_parameter"]

COUNTS = ("n", "limit", "count", "rows", "items", "size", "per_page", "page_size", "top", "first")
"""Parameters that say how many things are asked for."""

GROWS, MIN_S = 0.5, 0.0002
"""The time grows with the number if it grows by this share of what it would if nothing else took time, and
each thing takes so long at least: less is the work of writing it down.
"""

QUERIED = ": as with a query for each (N + 1)", "Fetch them all with one query."
COMPUTED = ", for which it computes", "Do less for each, or ask for fewer at a time."


def by_parameter(session: Session) -> Iterator[Finding]:
    """A finding for each two routes; sends nothing."""
    for one, other in combinations(session.alone, 2):
        if (differs := _number(one, other)) is None:
            continue
        name, few, many = differs
        (short, long) = (one, other) if few[1] == one else (other, one)
        first, last = session.service(short), session.service(long)
        step = _step(first, last, many[0] - few[0])
        assert step.value is not None
        expected = (last.value or 0.0) / many[0]
        if step.value < MIN_S or step.value < GROWS * expected:
            continue
        path = long.partition("?")[0]
        computes = session.alone[long].computes or session.holds_up(long)
        why, cure = COMPUTED if computes else QUERIED
        yield decided_finding(
            Topic.BY_PARAMETER,
            f"{path} takes {with_range(step)} longer for each further one of {name}{why}.",
            [
                f"{short} takes {with_range(first)}, {long} {with_range(last)}: "
                f"{amount((last.value or 0.0) - (first.value or 0.0), 's')} more for {many[0] - few[0]} more."
            ],
            {"step": step},
            hurts_s=(last.value or 0.0) - (first.value or 0.0),
            cure=cure,
        )


def _number(one: str, other: str) -> tuple[str, tuple[int, str], tuple[int, str]] | None:
    """The name of the only parameter in which two routes differ, and its values, each with its route, the
    smaller one first; None if they differ otherwise.
    """
    paths, queries = zip(*(route.partition("?")[::2] for route in (one, other)), strict=True)
    first, second = (dict(parse_qsl(query)) for query in queries)
    differing = [name for name in first if first[name] != second.get(name)]
    if paths[0] != paths[1] or first.keys() != second.keys() or len(differing) != 1:
        return None
    (name,) = differing
    if name not in COUNTS or not (first[name].isdecimal() and second[name].isdecimal()):
        return None
    few, many = sorted([(int(first[name]), one), (int(second[name]), other)])
    return name, few, many


def _step(first: Estimate, last: Estimate, more: int) -> Estimate:
    assert first.value is not None
    assert last.value is not None
    ends = (
        ((last.low or last.value) - (first.high or first.value)) / more,
        ((last.high or last.value) - (first.low or first.value)) / more,
    )
    return Estimate((last.value - first.value) / more, *ends, n=min(first.n, last.n))
