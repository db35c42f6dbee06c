"""CPU time per request over HTTP/2 without TLS, 1 kB, closed loop: jostle beside h2load and HTTP/1.1.

Ten connections with 1, 10 and 100 streams each; over HTTP/1.1 as many connections as there are streams. Tools
take turns in random order in every round; ratios are of pairs from the same round.
"""

import statistics
from dataclasses import asdict

from closed_loops import closed_loops, cost_table, ratios
from rows import Effort, Row, Section, ratio_text, spread
from servers import nginx
from tools import H2LOAD, HTTP2_CONNECTIONS, JOSTLE_HTTP1, JOSTLE_HTTP2, Tool
from window import Sample

BARS = {H2LOAD: 1.0, JOSTLE_HTTP1: None}
TOOLS = [JOSTLE_HTTP2, H2LOAD, JOSTLE_HTTP1]
CLIENTS = {streams: HTTP2_CONNECTIONS * streams for streams in (1, 10, 100)}


def run(effort: Effort) -> Section:
    with nginx() as server:
        urls = {JOSTLE_HTTP2: server.http2_url, H2LOAD: server.http2_url, JOSTLE_HTTP1: server.url}
        samples = closed_loops(urls, list(CLIENTS.values()), server, effort)
    rows = [_row(samples, peer, streams, bar) for peer, bar in BARS.items() for streams in CLIENTS]
    table = cost_table(samples, TOOLS, CLIENTS, "streams")
    return Section(rows, table, [asdict(sample) for sample in samples])


def _row(samples: list[Sample], peer: Tool, streams: int, bar: float | None) -> Row:
    found = ratios(samples, peer.name, CLIENTS[streams])
    return Row(
        f"CPU per request over HTTP/2 ÷ {peer.name}, {HTTP2_CONNECTIONS} connections × {streams} streams",
        ratio_text(bar) if bar is not None else "",
        spread(found, ".3f"),
        statistics.median(found) <= bar if bar is not None else None,
    )
