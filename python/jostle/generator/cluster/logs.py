"""Logs on a node, without the generator that wrote them: for one that was lost and whose node is back."""

import contextlib
from collections.abc import Iterator

from jostle.generator.cluster.agent import log_path
from jostle.generator.cluster.spool import read_from

__all__ = ["forget_log", "read_log"]


def read_log(log: str, offset: int) -> Iterator[bytes]:
    """Its bytes from `offset` on. Raises `FileNotFoundError`."""
    yield from read_from(log_path(log), offset)


def forget_log(log: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        log_path(log).unlink()
