"""Every contestant of the roster, as its file describes it."""

import functools

import pytest

from jostle import roster
from jostle.contestant import server
from jostle.host.supervised import Task

__all__ = ["FILES", "give_time_to_stop"]

FILES = {name: roster.load(name)[0] for name in roster.names()}

STOPPED_S = 20.0
"""It must have stopped by then: so long only because all cores compute, and other tests beside it."""


def give_time_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contestants that are started from now on are killed only after that time."""
    monkeypatch.setattr(server, "Task", functools.partial(Task, grace_s=STOPPED_S))
