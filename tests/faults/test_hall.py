"""The hall as a whole: what it must have, and that truths speak of what is there."""

from collections import Counter

import pytest

from faults.client import Client
from faults.hall import APPLICATIONS, started


def test_there_are_enough_with_one_fault_some_with_two_and_three_without() -> None:
    faults = Counter(len(application.faults) for application in APPLICATIONS.values())
    assert sum(faults.values()) >= 24
    assert faults[2] >= 2
    assert faults[0] >= 3


@pytest.mark.parametrize("name", APPLICATIONS)
def test_a_truth_speaks_of_routes_that_are_asked_for(name: str) -> None:
    application = APPLICATIONS[name]
    asked = {word for word in application.explain if word.startswith("/")}
    assert asked == set(application.routes)
    for fault in application.faults:
        assert all(any(path.startswith(route) for path in asked) for route in fault.routes)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_every_route_answers_and_leaves_its_connection_open(name: str) -> None:
    application = APPLICATIONS[name]
    with started(application) as running:
        client = Client(running.port)
        for path in application.routes:
            assert client.get(path).status == 200
            assert client.is_open
        client.close()
