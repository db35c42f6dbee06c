"""The checks of a range of a trial: those that a trial of just these intervals would have."""

import re
from pathlib import Path

import pytest

from jostle.errors import NotARun
from jostle.record.verdict import Verdict
from jostle.web.ranges import checks_within, span_of
from support.pages import OPEN, QUICK
from support.synthetic import Trial, make_run, open_loop


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server that stands still from the fourth second to the sixth."""
    trial = Trial("a", "w", 1, open_loop(QUICK, 400, 10.0, blocked=[(4.0, 6.0)]), 10.0, 0.25, OPEN)
    return make_run(tmp_path_factory.mktemp("runs"), [trial])


def test_a_quiet_range_is_valid_and_one_of_an_outage_is_not(run: Path) -> None:
    assert checks_within(run, 1, span_of(1.0, 3.5))["word"] == Verdict.VALID
    found = checks_within(run, 1, span_of(3.5, 6.0))
    assert found["word"] == Verdict.SUSPECT
    assert found["told"][0]["message"].startswith(
        "no response from 500 ms to the end: 2.00 s, 80 % of the run"
    )


def test_only_what_lies_within_the_range_counts(run: Path) -> None:
    found = checks_within(run, 1, span_of(0.0, 2.0))
    (told,) = [
        check["message"] for check in (*found["told"], *found["passed"]) if check["name"] == "responses"
    ]
    assert re.match(r"7\d\d responses|8\d\d responses", told), told


@pytest.mark.parametrize(("start_s", "end_s"), [(2.0, 2.0), (3.0, 1.0), (-1.0, 1.0), (0.0, float("inf"))])
def test_a_range_has_a_length(start_s: float, end_s: float) -> None:
    with pytest.raises(ValueError, match="length"):
        span_of(start_s, end_s)


def test_a_range_without_an_interval_is_told(run: Path) -> None:
    with pytest.raises(NotARun, match="no interval between"):
        checks_within(run, 1, span_of(1.01, 1.02))
    with pytest.raises(NotARun, match="no trial 7"):
        checks_within(run, 7, span_of(1.0, 2.0))
