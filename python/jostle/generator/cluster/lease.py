"""The lease: a generator may send only for as long as the driver has promised, in the generator's own clock.

Every question of the driver carries the end of a new lease, counted from when the question was *sent*: one
that was stuck on the way renews nothing. Whoever is cut off therefore stops by itself, and the driver knows
by when, without a word between them.
"""

import threading
import time
from collections.abc import Callable

__all__ = ["EXPIRED_S", "LEASE_S", "SILENT_S", "Lease"]

LEASE_S = 4.0
"""From the sending of a question to the end of the lease that it brings."""

SILENT_S = 5.0
"""A generator that has not answered for so long is given up, for good."""

EXPIRED_S = LEASE_S + 0.5
"""So long after the last question was sent, its lease is over for certain: clocks and threads are slow."""

LOOK_S = 0.05


class Lease:
    """Calls `expired` once when it has not been renewed in time. `end_ns` counts in the monotonic clock."""

    def __init__(self, end_ns: int, expired: Callable[[], None]) -> None:
        self.end_ns = end_ns
        self.over = False
        self._expired = expired
        self._done = threading.Event()
        threading.Thread(target=self._watch, name="lease", daemon=True).start()

    def renew(self, end_ns: int) -> None:
        """Questions may overtake one another: a lease is never made shorter, nor brought back to life."""
        self.end_ns = max(self.end_ns, end_ns)

    def release(self) -> None:
        """It is not needed any more."""
        self._done.set()

    def _watch(self) -> None:
        while not self._done.wait(LOOK_S):
            if time.monotonic_ns() >= self.end_ns:
                self.over = True
                self._expired()
                return
