"""The ledger of generators on other machines: what was streamed of each spool, and what is only in the spool.

The files are in generators/ of the trial's folder: `N.frames` (streamed), `N.rest.frames` (fetched later),
streams.ndjson (which spools there are, and where), accounts.json.
"""

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

from jostle.generator.cluster.follower import Follower, IntervalTally
from jostle.generator.cluster.spool import FrameReader, read_from
from jostle.generator.cluster.transport import Gone, Node, Transport, Unavailable
from jostle.host.files import open_to_append, write_json
from jostle.record.jsonl import append_line, damaged, read_object, read_objects
from jostle.record.layout import Ledger, LedgerEntry, StreamEntry

__all__ = ["collect", "note_follower", "read_ledger", "write_ledger"]

NOT_FETCHED = "the rest of its spool, if there is one, has not been fetched"


def note_follower(folder: Path, follower: Follower) -> None:
    """Note a spool on disk before anything is streamed, so that it can be found whatever happens."""
    assert follower.copy is not None
    entry: StreamEntry = {
        "generator": follower.index + 1,
        "host": follower.node.address,
        "log": follower.log,
        "from_ns": follower.from_ns,
        "copy": follower.copy.name,
    }
    with open_to_append(folder / "streams.ndjson") as file:
        append_line(file, json.dumps(entry), sync=True)


def read_ledger(folder: Path) -> list[LedgerEntry]:
    """The accounts if they were closed, otherwise what the copies contain. Empty for a trial without cluster.

    Raises NotARun, also for file names that would lead out of the folder.
    """
    known = read_object(folder / "accounts.json", Ledger)
    if known is not None:
        return known["accounts"]
    return [_opened(folder, entry) for entry in read_objects(folder / "streams.ndjson", StreamEntry)]


def write_ledger(folder: Path, accounts: Iterable[LedgerEntry]) -> None:
    ledger: Ledger = {"accounts": list(accounts)}
    write_json(folder / "accounts.json", ledger)


def collect(transport: Transport, folder: Path) -> list[LedgerEntry]:
    """Fetch what is missing from every node that can be reached. Returns the new accounts, also on disk."""
    nodes = {node.address: node for node in transport.nodes()}
    accounts = [
        account if account["whole"] else _fetched(transport, nodes.get(account["host"]), folder, account)
        for account in read_ledger(folder)
    ]
    write_ledger(folder, accounts)
    return accounts


def _opened(folder: Path, entry: StreamEntry) -> LedgerEntry:
    return {
        **entry,
        "streamed": _tally(entry["from_ns"], folder / entry["copy"]).as_entry(),
        "only_in_log": None,
        "whole": False,
        "why": NOT_FETCHED,
        "clock_after": None,
    }


def _tally(from_ns: int, *paths: Path) -> IntervalTally:
    """The tally of files read as one, as a frame may be split between them. Raises NotARun."""
    tally, frames = IntervalTally(), FrameReader()
    for path in paths:
        try:
            for piece in read_from(path, 0):
                for interval in frames.add(piece):
                    tally.add(interval)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise damaged(path, error if isinstance(error, OSError) else repr(error)) from None
    if tally.intervals:
        tally.until_ns += from_ns
    return tally


def _fetched(transport: Transport, node: Node | None, folder: Path, account: LedgerEntry) -> LedgerEntry:
    """The account after its spool's rest was fetched, or with the reason why that failed."""
    if node is None:
        return {**account, "why": f"{account['host']} is not in the cluster now"}
    copy = folder / account["copy"]
    rest = copy.with_name(copy.stem + ".rest.frames")
    partial = rest.with_name(rest.name + ".part")
    try:
        partial.unlink(missing_ok=True)
        with partial.open("xb") as file:
            for piece in transport.read(node, account["log"], copy.stat().st_size):
                file.write(piece)
    except (Unavailable, Gone, OSError) as error:
        partial.unlink(missing_ok=True)
        return {**account, "why": f"{account['host']}: {error}"}
    partial.replace(rest)
    streamed = _tally(account["from_ns"], copy)
    both = _tally(account["from_ns"], copy, rest)
    only = IntervalTally(both.intervals - streamed.intervals, both.sent - streamed.sent, both.until_ns)
    with contextlib.suppress(Unavailable, Gone):
        transport.forget(node, account["log"])
    return {
        **account,
        "streamed": streamed.as_entry(),
        "only_in_log": only.as_entry(),
        "whole": True,
        "why": "",
    }
