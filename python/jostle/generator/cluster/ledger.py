"""The accounts of generators on other machines: all of a log = what was streamed + what is in the log only.

In the trial's folder, under generators/: `N.frames` (streamed), `N.rest.frames` (fetched later),
streams.ndjson (which logs there are, and where), accounts.json.
"""

import contextlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jostle.generator.cluster.follower import Stream, Tally
from jostle.generator.cluster.spool import Unfolding, read_from
from jostle.generator.cluster.transport import Gone, Network, Node, Unavailable
from jostle.host.files import open_to_append, write_json
from jostle.record.jsonl import append_line, read_json, read_objects

__all__ = ["accounts_of", "collect", "note_stream", "write_accounts"]

NOT_FETCHED = "the rest of its own log, if there is one, has not been fetched"


def note_stream(folder: Path, stream: Stream) -> None:
    """On disk before anything is streamed, so that the log is found again whatever happens."""
    assert stream.copy is not None
    entry = {
        "generator": stream.index + 1,
        "host": stream.node.address,
        "log": stream.log,
        "from_ns": stream.from_ns,
        "copy": stream.copy.name,
    }
    with open_to_append(folder / "streams.ndjson") as file:
        append_line(file, json.dumps(entry), sync=True)


def accounts_of(folder: Path) -> list[dict[str, Any]]:
    """As they stand: closed ones, else what the copies say. Empty for a trial of this machine alone."""
    known = read_json(folder / "accounts.json")
    if known is not None:
        return list(known["accounts"])
    return [_opened(folder, entry) for entry in read_objects(folder / "streams.ndjson")]


def write_accounts(folder: Path, accounts: Iterable[Mapping[str, Any]]) -> None:
    write_json(folder / "accounts.json", {"accounts": [dict(account) for account in accounts]})


def collect(network: Network, folder: Path) -> list[dict[str, Any]]:
    """Fetch what is missing from every node that is there; the accounts after that, also on disk."""
    nodes = {node.address: node for node in network.nodes()}
    accounts = [
        account if account["whole"] else _fetched(network, nodes.get(account["host"]), folder, account)
        for account in accounts_of(folder)
    ]
    write_accounts(folder, accounts)
    return accounts


def _opened(folder: Path, entry: Mapping[str, Any]) -> dict[str, Any]:
    streamed = _tally(entry["from_ns"], folder / entry["copy"])
    return {**entry, "streamed": vars(streamed), "only_in_log": None, "whole": False, "why": NOT_FETCHED}


def _tally(from_ns: int, *paths: Path) -> Tally:
    """Of files put together: a frame may have been cut between them."""
    tally, unfolding = Tally(), Unfolding()
    for path in paths:
        for piece in read_from(path, 0):
            for interval in unfolding.add(piece):
                tally.add(interval)
    if tally.intervals:
        tally.until_ns += from_ns
    return tally


def _fetched(network: Network, node: Node | None, folder: Path, account: Mapping[str, Any]) -> dict[str, Any]:
    """The account with the rest of its log, or why that could not be had."""
    if node is None:
        return {**account, "why": f"{account['host']} is not in the cluster now"}
    copy = folder / account["copy"]
    rest = copy.with_name(copy.stem + ".rest.frames")
    partial = rest.with_name(rest.name + ".part")
    try:
        with partial.open("wb") as file:
            for piece in network.read(node, account["log"], copy.stat().st_size):
                file.write(piece)
    except (Unavailable, Gone, OSError) as error:
        partial.unlink(missing_ok=True)
        return {**account, "why": f"{account['host']}: {error}"}
    partial.replace(rest)
    streamed = _tally(account["from_ns"], copy)
    both = _tally(account["from_ns"], copy, rest)
    only = Tally(both.intervals - streamed.intervals, both.sent - streamed.sent, both.until_ns)
    with contextlib.suppress(Unavailable, Gone):
        network.forget(node, account["log"])
    return {**account, "streamed": vars(streamed), "only_in_log": vars(only), "whole": True, "why": ""}
