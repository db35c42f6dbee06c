"""The lease: a generator may send only for as long as the driver has allowed, by the generator's clock.

Every call of the driver carries the end of a new lease, counted from when the call was *sent*, so a call that
was delayed on the way renews nothing. A generator that is cut off therefore stops by itself, and the driver
knows by when without any message.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Lease", "LeaseTimes"]

CHECK_S = 0.05


@dataclass(frozen=True)
class LeaseTimes:
    """The length of a lease, from the sending of a call to the lease's end, and what follows from it."""

    length_s: float = 4.0
    margin_s: float = 0.5
    """Allowance for differing clocks and slow threads."""

    @property
    def silent_s(self) -> float:
        """A generator that has not answered for this long is given up for good."""
        return self.length_s * 1.25

    @property
    def expired_s(self) -> float:
        """How long after the last call was sent the lease is certainly over."""
        return self.length_s + self.margin_s


class Lease:
    """Calls `expired` once if it is not renewed in time. `end_ns` is a time of the monotonic clock."""

    def __init__(self, end_ns: int, expired: Callable[[], None]) -> None:
        self.end_ns = end_ns
        self.over = False
        self._expired = expired
        self._done = threading.Event()
        threading.Thread(target=self._watch, name="lease", daemon=True).start()

    def renew(self, end_ns: int) -> None:
        """Extend the lease. It is never shortened (calls may overtake one another) and never revived."""
        self.end_ns = max(self.end_ns, end_ns)

    def release(self) -> None:
        """End the watch: the lease is no longer needed."""
        self._done.set()

    def _watch(self) -> None:
        while not self._done.wait(CHECK_S):
            if time.monotonic_ns() >= self.end_ns:
                self.over = True
                self._expired()
                return
