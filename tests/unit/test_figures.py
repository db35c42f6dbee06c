"""Published figures: whose they are."""

import pytest

from jostle.analysis.figures import figure, figures_of
from jostle.analysis.result import PublishedFigure


def published(contestant: str, value: float, workload: str = "hello") -> PublishedFigure:
    return PublishedFigure(contestant, "throughput", value, "/s", "Someone, 2010", workload)


FIGURES = [
    published("rails", 4),
    published("rails:workers=1", 1),
    published("rails", 5, "other"),
    published("go", 9),
]


@pytest.mark.parametrize(
    ("measured", "values"),
    [
        (["rails", "rails:workers=1", "go"], {"rails": 4, "rails:workers=1": 1, "go": 9}),
        (["rails:workers=1", "rails:workers=2"], {"rails:workers=1": 1, "rails:workers=2": 4}),
        (["rails", "rails:workers=2"], {"rails": 4, "rails:workers=2": None}),
    ],
)
def test_a_figure_is_of_the_very_contestant_or_else_of_its_variants(
    measured: list[str], values: dict[str, float | None]
) -> None:
    for contestant, value in values.items():
        found = figure(figures_of(contestant, FIGURES, measured), "hello", "throughput")
        assert (found.value if found else None) == value


def test_a_figure_is_of_its_workload_and_quantity() -> None:
    own = figures_of("rails", FIGURES, ["rails"])
    assert figure(own, "other", "throughput") is FIGURES[2]
    assert figure(own, "hello", "p50") is None
