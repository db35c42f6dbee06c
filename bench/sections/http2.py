"""CPU time per request over HTTP/2 without TLS, 1 kB, closed loop: jostle beside h2load and HTTP/1.1.

Ten connections with 1, 10 and 100 streams each; over HTTP/1.1 as many connections as there are streams. Tools
take turns in random order in every round; ratios are of pairs from the same round.
"""

import random
import statistics
from dataclasses import asdict

from rows import Effort, Row, Section, ratio_text, spread
from servers import nginx
from tools import H2LOAD, HTTP2_CONNECTIONS, JOSTLE, JOSTLE_HTTP2
from window import Sample, measure

BAR = 1.0
STREAMS = [1, 10, 100]
OVER_HTTP1 = "jostle, HTTP/1.1"


def run(effort: Effort) -> Section:
    samples: list[tuple[str, Sample]] = []
    with nginx() as server:
        tools = {
            "jostle": (JOSTLE_HTTP2, server.http2_url),
            "h2load": (H2LOAD, server.http2_url),
            OVER_HTTP1: (JOSTLE, server.url),
        }
        for number in range(effort.rounds):
            turns = [(name, streams) for name in tools for streams in STREAMS]
            random.shuffle(turns)
            for name, streams in turns:
                tool, url = tools[name]
                clients = HTTP2_CONNECTIONS * streams
                command = tool.closed(url, clients)
                sample = measure(tool, command, server, clients, effort.seconds, number, effort.folder)
                samples.append((name, sample))
                print(
                    f"  round {number + 1}: {name}, {streams}: {sample.cpu_us:.2f} µs, {sample.rate:,.0f}/s"
                )
    rows = [_row(samples, "h2load", streams, BAR) for streams in STREAMS]
    rows += [_row(samples, OVER_HTTP1, streams, None) for streams in STREAMS]
    return Section(rows, _details(samples), [asdict(sample) | {"tool": name} for name, sample in samples])


def _row(samples: list[tuple[str, Sample]], peer: str, streams: int, bar: float | None) -> Row:
    of = {
        (name, sample.round): sample.cpu_us
        for name, sample in samples
        if sample.connections == HTTP2_CONNECTIONS * streams
    }
    ratios = [of["jostle", number] / cpu for (name, number), cpu in of.items() if name == peer]
    return Row(
        f"CPU per request over HTTP/2 ÷ {peer}, {HTTP2_CONNECTIONS} connections × {streams} streams",
        ratio_text(bar) if bar is not None else "",
        spread(ratios, ".3f"),
        statistics.median(ratios) <= bar if bar is not None else None,
    )


def _details(samples: list[tuple[str, Sample]]) -> str:
    lines = [
        "| streams | tool | CPU µs/request | load threads | requests/s | peak MB |",
        "|---|---|---|---|---|---|",
    ]
    for streams in STREAMS:
        for tool in dict.fromkeys(name for name, _ in samples):
            found = [
                sample
                for name, sample in samples
                if (name, sample.connections) == (tool, HTTP2_CONNECTIONS * streams)
            ]
            load = [sample.load_threads_us for sample in found if sample.load_threads_us is not None]
            lines.append(
                f"| {streams} | {tool} | {spread([s.cpu_us for s in found])} "
                f"| {spread(load) if load else ''} "
                f"| {spread([s.rate for s in found], ',.0f')} "
                f"| {statistics.median(s.peak_mb for s in found):,.0f} |"
            )
    return "\n".join(lines)
