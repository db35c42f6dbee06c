"""What a viewer asks to be told of a run."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from jostle.live.one_request import RequestKey

__all__ = ["NEWEST", "Choice", "as_text"]


class Choice(NamedTuple):
    """A trial, and a request of it of which there is to be a heat map."""

    trial: int | None
    """Its number; None for the one that began last."""
    request: RequestKey | None
    """None for no single one."""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> "Choice":
        """From the parameters of an address; those that make no sense are passed over."""
        trial = re.fullmatch(r"[0-9]{1,9}", parameters.get("trial", ""))
        request = re.fullmatch(r"([0-9]{1,9})\.([0-9]{1,9})", parameters.get("request", ""))
        return cls(trial and int(trial[0]), request and RequestKey(int(request[1]), int(request[2])))


NEWEST = Choice(None, None)


def as_text(request: RequestKey) -> str:
    """As it stands in an address."""
    return f"{request.workload}.{request.number}"
