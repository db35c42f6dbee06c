"""As whom servers run."""

import os
import pwd
from typing import NoReturn

import pytest

from jostle.errors import PlanError
from jostle.host.users import User


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
    with pytest.raises(PlanError, match="there is no user 'web' on this machine"):
        User.of("web")
