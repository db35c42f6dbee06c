"""Whether fast requests wait for the end of a slow one, or for their turn."""

import pytest

from jostle.analysis.topics.starvation.blocking import Waits, WaitsFor, slice_of, waits_for


@pytest.mark.parametrize(
    ("what", "this", "others", "slice_s", "answer"),
    [
        ("a long one, waited for whole", Waits(4.5, 4.4), [], None, "its end"),
        ("a long one, of which a turn is waited for", Waits(4.5, 0.03), [], None, "a turn"),
        ("nobody was answered beside a long one", Waits(4.5, None), [], None, "its end"),
        ("Go, by itself: 39.6 ms is four slices of 10 ms", Waits(0.0396, 0.031), [], 0.010, "undecided"),
        ("the same of a server whose slices are unknown", Waits(0.0396, 0.031), [], None, "undecided"),
        ("short, but nobody waits for its end either", Waits(0.0396, 0.010), [], None, "undecided"),
        ("Go, with a long one measured too", Waits(0.0396, 0.031), [Waits(0.7, 0.02)], 0.010, "a turn"),
        ("Node: waiting grows with the length", Waits(0.040, 0.8), [Waits(0.7, 0.69)], None, "its end"),
        ("20 slices of 10 ms", Waits(0.200, 0.150), [], 0.010, "its end"),
        ("less than 20 of 20 ms", Waits(0.399, 0.390), [], 0.020, "undecided"),
        ("two lengths that disagree: it did not grow", Waits(0.5, 0.45), [Waits(4.0, 0.5)], None, "a turn"),
        (
            "two workers: one is left beside one slow request",
            Waits(0.9, 1.9, 2),
            [Waits(0.9, 0.2)],
            None,
            "its end",
        ),
        ("nor do two at once tell of one", Waits(0.1, 0.2), [Waits(0.9, 1.9, 2)], None, "undecided"),
    ],
)
def test_it_is_told_by_long_slow_requests_only(
    what: str, this: Waits, others: list[Waits], slice_s: float | None, answer: WaitsFor
) -> None:
    assert waits_for(this, others, slice_s) == answer, what


def test_slices_are_read_where_they_are_times() -> None:
    assert [slice_of(text) for text in ("10 ms", "4,000 reductions", "", None)] == [0.010, None, None, None]
