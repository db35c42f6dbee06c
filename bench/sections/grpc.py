"""CPU time per call of gRPC without TLS, one message each way, closed loop: jostle beside ghz.

Ten connections with 1, 10 and 100 calls at a time each, against grpc-go. Tools take turns in random order in
every round; ratios are of pairs from the same round.
"""

import statistics
from dataclasses import asdict

from closed_loops import closed_loops, cost_table, ratios
from rows import Effort, Row, Section, ratio_text, spread
from servers import grpc_go
from tools import GHZ, GRPC_CONNECTIONS, JOSTLE_GRPC
from window import Sample

BAR = 1 / 3
TOOLS = [JOSTLE_GRPC, GHZ]
CLIENTS = {calls: GRPC_CONNECTIONS * calls for calls in (1, 10, 100)}


def run(effort: Effort) -> Section:
    with grpc_go() as server:
        addresses = dict.fromkeys(TOOLS, server.address)
        samples = closed_loops(addresses, list(CLIENTS.values()), server, effort)
    rows = [_row(samples, calls) for calls in CLIENTS]
    table = cost_table(samples, TOOLS, CLIENTS, "calls at a time", "call")
    return Section(rows, table, [asdict(sample) for sample in samples])


def _row(samples: list[Sample], calls: int) -> Row:
    found = ratios(samples, "ghz", CLIENTS[calls])
    return Row(
        f"CPU per call of gRPC ÷ ghz, {GRPC_CONNECTIONS} connections × {calls} calls at a time",
        ratio_text(BAR),
        spread(found, ".3f"),
        statistics.median(found) <= BAR,
    )
