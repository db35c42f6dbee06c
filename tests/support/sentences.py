"""Sentences by the numbers that must produce them, and by those that must not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from jostle.analysis.results import Estimate

__all__ = ["UNKNOWN", "Row", "by_row", "check", "e", "near", "share"]


def e(value: float | None, low: float | None = None, high: float | None = None, **more: Any) -> Estimate:
    return Estimate(value, low, high, **{"unit": "s", "n": 5, **more})


def near(value: float) -> Estimate:
    return e(value, value * 0.98, value * 1.02)


def share(low: float, high: float) -> Estimate:
    return e((low + high) / 2, low, high, unit="")


UNKNOWN = e(None, unit="", note="too few requests")


@dataclass(frozen=True)
class Row:
    """`says` is in the sentence of `must`, and in that of none of `must_not`."""

    says: str
    must: Callable[[], str]
    must_not: tuple[Callable[[], str], ...]


def by_row(rows: list[Row]) -> pytest.MarkDecorator:
    """A test for each, named after its sentence."""
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.says) for row in rows])


def check(row: Row) -> None:
    assert row.says in row.must()
    for other in row.must_not:
        assert row.says not in other()
