"""Head-of-line blocking: streams of one HTTP/2 connection that waited for one another."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["BlockingCause", "HeadOfLine", "StreamOfConnection"]

BlockingCause = Literal["connection", "server", "unknown", ""]
"""What made streams wait behind another one; "": the connection let others through meanwhile."""


@dataclass(frozen=True)
class StreamOfConnection:
    """One request on its stream. Seconds from the start of the trial; None: it had not happened yet."""

    stream: int  # its number on the connection; 0 if it got none
    request: str
    ready_s: float  # when it would have been sent, had there been a free stream
    sent_s: float | None
    head_s: float | None  # when the head of its response came
    end_s: float | None
    bytes: int  # of the response; 0 while it comes
    waited_s: float  # behind the response of another stream, or for a free one; 0 if negligible


@dataclass(frozen=True)
class HeadOfLine:
    """The longest wait of a cell, and the streams of that connection around it."""

    contestant: str
    workload: str
    trial: int
    begin_s: float  # of the time that is shown
    end_s: float
    behind: StreamOfConnection | None  # whose response came meanwhile; None: they waited for a free stream
    streams: list[StreamOfConnection]  # in the order in which they were ready
    waited: int  # how many waited
    passed: int  # how many were answered while the response of `behind` came
    others: int  # how many were there meanwhile, including those two
    longest_s: float
    open: int  # streams that were open when the longest wait for a free one ended
    cause: BlockingCause
    elsewhere_connections: int  # which answered the same request meanwhile
    elsewhere_answers: int
    elsewhere_median_s: float | None
