"""As whom servers run."""

import os
import pwd
from typing import NoReturn

import pytest

from jostle.contestant import find
from jostle.errors import PlanError
from jostle.host.users import User
from jostle.plan.servers.contestant import ContestantFile


def unknown(_: object) -> NoReturn:
    raise KeyError


def test_without_root_it_is_the_user_who_runs_jostle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    monkeypatch.setattr(os, "getegid", lambda: 54321)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert User.of("nobody") == User("12345", 12345, 54321)


def test_root_needs_the_user_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", unknown)
    with pytest.raises(PlanError, match="there is no user 'web' on this machine") as told:
        User.of("web")
    assert told.value.hint.startswith("useradd --system web adds it")


def test_what_runs_already_needs_no_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container without a user nobody, from which a server outside is loaded."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", unknown)
    running = find("it", {"it": ContestantFile(url="http://127.0.0.1:9000")})
    assert (running.missing(), running.versions(), running.build()) == ([], {}, None)
