"""What was sent, one line per workload: requests, load, connections, and the background load."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jostle.analysis.results import RunResult
from jostle.formatting import listed
from jostle.plan.files.toml import TOMLDecodeError, read_toml
from jostle.plan.requests.request import METHODS
from jostle.report.document import Block, Depth, Paragraph, Section, Statement, Statements
from jostle.report.workload import describe_load
from jostle.text import shortened

__all__ = ["section"]

MAX_REQUESTS = 3


def section(result: RunResult) -> Section:
    """One line per workload. No lines for a single workload, whose load is shown with its figures, or if the
    plan is of an incompatible version.
    """
    measured = {summary.workload: summary.title for summary in result.summaries}
    found: list[Statement] = []
    if len(measured) > 1:
        found = [Statement(text) for text in _lines(result.plan_text, measured)]
    blocks: list[Block] = [Statements(found)] if found else []
    if about := _about(result.plan_text):
        blocks.append(Section("What the plan says about it", about, Depth.DETAIL, folded=True))
    return Section("What was measured", blocks, Depth.MAIN, key="measured")


def _about(plan_text: str) -> list[Paragraph]:
    """The plan's description of itself, in paragraphs."""
    try:
        text = read_toml(plan_text).get("about", "")
    except TOMLDecodeError:
        return []
    return [Paragraph(" ".join(part.split())) for part in re.split(r"\n\s*\n", str(text).strip()) if part]


def _lines(plan_text: str, measured: Mapping[str, str]) -> Iterator[str]:
    try:
        planned = read_toml(plan_text)["workload"]
        described = {name: _sent(planned[name]) for name in measured}
    except (TOMLDecodeError, KeyError, TypeError, AttributeError):
        return
    for name, sent in described.items():
        title = measured[name]
        yield f"{name}{f' ({title})' if title and title != name else ''}: {sent}."


def _sent(workload: Mapping[str, Any]) -> str:
    load, connection = workload["load"], workload.get("connection", {})
    what = _requests(workload.get("request", []), workload.get("journeys", {}))
    parts = [what, describe_load(load, connection), _connections(load)]
    sent = ", ".join(filter(None, parts))
    if beside := workload.get("background"):
        with_load = ", ".join(filter(None, [_requests([beside], {}), describe_load(beside)]))
        sent += f"; beside it {with_load}"
    return sent


def _requests(requests: Sequence[Mapping[str, Any]], journeys: Mapping[str, Any]) -> str:
    """The requests in words, "GET /fast/44", or the journeys; "" for raw bytes, calls and messages."""
    if journeys:
        return f"{'journey' if len(journeys) == 1 else 'journeys'} {listed(list(journeys))}"
    names = [f"{method.upper()} {one[method]}" for one in requests for method in METHODS if method in one]
    names += [f"{one['method']} {one['path']}" for one in requests if "method" in one]
    names = [shortened(one) for one in names]
    more = len(names) - MAX_REQUESTS
    return ", ".join([*names[:MAX_REQUESTS], *([f"{more} more"] if more > 0 else [])])


def _connections(load: Mapping[str, Any]) -> str:
    if load.get("keep-alive") is False:
        return "a new connection for each request"
    return f"at most {load['max-connections']:,} connections" if "max-connections" in load else ""
