"""Why something about a server cannot be told."""

from enum import StrEnum

__all__ = ["Reason"]


class Reason(StrEnum):
    """Why something cannot be told, in words for readers, which also stand in the record."""

    NO_ROUTE = "no route to ask it with"
    TOO_FAST = "requests are too short"
    TOO_SLOW = "requests are too long for the time allowed"
    EQUAL_TIMES = "all routes take the same time"
    NOISY = "the times vary too much"
    DRIFTS = "the service time changes while it is measured"
    NOT_SATURATED = "the server was never full"
    NO_FIT = "nothing known behaves like this"
    AMBIGUOUS = "more than one explanation fits"
    DIVIDED = "some short requests overtook long ones, others did not"
    FAILED = "requests failed"
    AWAY = "the server did not accept connections"
    REFUSED = "the server refused requests"
    GENERATOR = "the generator was late"
    INTERMEDIARY = "something stands between"
    NOT_OURS = "jostle did not start the server"
    NOT_ASKED = "it was not asked for"
    NO_ROWS = "the run kept too little"
    NO_TIME = "the time allowed was over"
