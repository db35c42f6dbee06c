"""The ledger of generators on other machines: all of a spool = what was streamed + what is in the spool only.

In the trial's folder, under generators/: `N.frames` (streamed), `N.rest.frames` (fetched later),
streams.ndjson (which spools there are, and where), accounts.json.
"""

import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jostle.errors import NotARun
from jostle.generator.cluster.follower import Follower, Tally
from jostle.generator.cluster.spool import FrameReader, read_from
from jostle.generator.cluster.transport import Gone, Node, Transport, Unavailable
from jostle.host.files import open_to_append, write_json
from jostle.record.jsonl import append_line, read_json, read_objects

__all__ = ["collect", "note_follower", "read_ledger", "write_ledger"]

NOT_FETCHED = "the rest of its spool, if there is one, has not been fetched"

_COPY = re.compile(r"[0-9]+(-from-[0-9.e+]+s)?\.frames")
"""What copies are called; another name, in a ledger that a stranger gave, could lead out of the folder."""


def note_follower(folder: Path, follower: Follower) -> None:
    """On disk before anything is streamed, so that the spool is found again whatever happens."""
    assert follower.copy is not None
    entry = {
        "generator": follower.index + 1,
        "host": follower.node.address,
        "log": follower.log,
        "from_ns": follower.from_ns,
        "copy": follower.copy.name,
    }
    with open_to_append(folder / "streams.ndjson") as file:
        append_line(file, json.dumps(entry), sync=True)


def read_ledger(folder: Path) -> list[dict[str, Any]]:
    """As they stand: closed ones, else what the copies say. Empty for a trial of this machine alone."""
    known = read_json(folder / "accounts.json")
    if known is not None:
        return list(known["accounts"])
    return [_opened(folder, entry) for entry in read_objects(folder / "streams.ndjson")]


def write_ledger(folder: Path, accounts: Iterable[Mapping[str, Any]]) -> None:
    write_json(folder / "accounts.json", {"accounts": [dict(account) for account in accounts]})


def collect(transport: Transport, folder: Path) -> list[dict[str, Any]]:
    """Fetch what is missing from every node that is there; the accounts after that, also on disk."""
    nodes = {node.address: node for node in transport.nodes()}
    accounts = [
        account if account["whole"] else _fetched(transport, nodes.get(account["host"]), folder, account)
        for account in read_ledger(folder)
    ]
    write_ledger(folder, accounts)
    return accounts


def _opened(folder: Path, entry: Mapping[str, Any]) -> dict[str, Any]:
    streamed = _tally(entry["from_ns"], _copy(folder, entry))
    return {**entry, "streamed": vars(streamed), "only_in_log": None, "whole": False, "why": NOT_FETCHED}


def _copy(folder: Path, entry: Mapping[str, Any]) -> Path:
    """The streamed part of a spool. Raises `NotARun`."""
    if not _COPY.fullmatch(entry["copy"]):
        raise NotARun(
            f"{folder}: {entry['copy']!r} is not the name of a copy", "the ledger was changed by hand"
        )
    return folder / str(entry["copy"])


def _tally(from_ns: int, *paths: Path) -> Tally:
    """Of files put together: a frame may have been cut between them."""
    tally, frames = Tally(), FrameReader()
    for path in paths:
        for piece in read_from(path, 0):
            for interval in frames.add(piece):
                tally.add(interval)
    if tally.intervals:
        tally.until_ns += from_ns
    return tally


def _fetched(
    transport: Transport, node: Node | None, folder: Path, account: Mapping[str, Any]
) -> dict[str, Any]:
    """The account with the rest of its spool, or why that could not be had."""
    if node is None:
        return {**account, "why": f"{account['host']} is not in the cluster now"}
    copy = _copy(folder, account)
    rest = copy.with_name(copy.stem + ".rest.frames")
    partial = rest.with_name(rest.name + ".part")
    try:
        with partial.open("wb") as file:
            for piece in transport.read(node, account["log"], copy.stat().st_size):
                file.write(piece)
    except (Unavailable, Gone, OSError) as error:
        partial.unlink(missing_ok=True)
        return {**account, "why": f"{account['host']}: {error}"}
    partial.replace(rest)
    streamed = _tally(account["from_ns"], copy)
    both = _tally(account["from_ns"], copy, rest)
    only = Tally(both.intervals - streamed.intervals, both.sent - streamed.sent, both.until_ns)
    with contextlib.suppress(Unavailable, Gone):
        transport.forget(node, account["log"])
    return {**account, "streamed": vars(streamed), "only_in_log": vars(only), "whole": True, "why": ""}
