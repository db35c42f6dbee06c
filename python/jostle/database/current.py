"""The database of the current trial: one at a time, as the plan and the trial's workload need it."""

from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from jostle.database.database import Database, start
from jostle.database.options import Options
from jostle.plan.servers.database import DatabaseTable

__all__ = ["CurrentDatabase"]


class CurrentDatabase:
    """Only the current database runs, so that no other uses the machine while a server is measured.

    It is kept from one trial to the next if both need the same content. Another delay needs another proxy,
    other content another cluster.
    """

    def __init__(self, cores: Sequence[int] | None = None) -> None:
        self._cores = cores
        self._current: Database | None = None

    def matching(self, table: DatabaseTable) -> Database:
        """The database that `table` describes. Raises as `jostle.database.start`."""
        options = Options(table.pool, table.delay * 1000, table.index, table.customers)
        if self._current is None or not self._current.alive() or not _same_content(self._current, options):
            self.stop()
            self._current = start(options, url=table.url, fill=table.fill, cores=self._cores)
        elif self._current.options != options:
            self._current = self._current.with_options(options)
        return self._current

    def stop(self) -> None:
        if self._current is not None:
            self._current.stop()
            self._current = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _same_content(database: Database, options: Options) -> bool:
    return replace(database.options, pool=options.pool, delay_ms=options.delay_ms) == options
