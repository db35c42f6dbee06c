"""Where the figures come from: the machine, the versions, the plan, and the command that reproduces them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jostle.analysis.results import RunResult
from jostle.formatting import amount, plural
from jostle.report.document import (
    Block,
    Depth,
    Link,
    Paragraph,
    Preformatted,
    Section,
    Table,
    columns,
)
from jostle.report.workload import moment
from jostle.text import one_line
from jostle.units import format_span

__all__ = ["again", "facts", "files", "host", "links", "machine", "processor"]

FILES = {"plan.toml": "Plan", "trials/": "Raw files", "journal.ndjson": "Journal"}
"""Files of the record that a page links to, with the text of the link."""

ABOUT = {
    "plan.toml": "the plan as it ran",
    "host.json": "the machine, versions, limits, seed",
    "journal.ndjson": "what happened, a line per event",
    "trials/…/intervals.ndjson": "counts, outcomes and CPU of the generator, a line per interval",
    "trials/…/intervals.hlog": "histograms of every interval: any HdrHistogram tool reads them",
    "trials/…/server.ndjson": "CPU, memory, threads and connections of the server",
    "trials/…/requests-00001.npz": "a row per request, if the plan says rows = true",
    "trials/…/outcome.json": "how the trial ended, and checksums of its files",
}


def facts(result: RunResult) -> list[str]:
    """When, where and with what the run was made, as short texts."""
    host = result.host
    trials = f"{len(result.trials)} trial{'' if len(result.trials) == 1 else 's'}"
    return [
        moment(result.started),
        trials + (f" in {format_span(result.took_s)}" if result.took_s else ""),
        f"seed {result.seed}",
        processor(host),
        str(host.get("kernel", "")),
        f"jostle {host.get('jostle', '')}".strip(),
    ]


def processor(host: Mapping[str, Any]) -> str:
    """The model and the number of cores, as far as they are known."""
    cores = host.get("cores")
    number = plural(cores, "core") if cores else ""
    return ", ".join(filter(None, [str(host.get("cpu_model", "")), number]))


def machine(result: RunResult) -> Section:
    """Every fact of the machine, the versions and the servers."""
    return Section("Machine and versions", [host(result)], Depth.DETAIL, key="host", folded=True)


def host(result: RunResult) -> Table:
    """One fact per row."""
    table = Table("Host, versions and servers", columns("fact | value"), prose=True)
    for key, value in result.host.items():
        if key.endswith("_bytes") and isinstance(value, int | float):
            table.add(key.removesuffix("_bytes").replace("_", " "), amount(value, "bytes"))
        elif key not in ("format", "seed", "floor"):  # the floor is among the notes
            table.add(key.replace("_", " "), _plain(value))
    for label, about in result.contestants.items():
        table.add(f"contestant {label}", _plain({k: v for k, v in about.items() if v}))
    table.add("seed", str(result.seed))
    return table


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{str(k).replace('_', ' ')}: {_plain(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return " ".join(_plain(v) for v in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value) or "none"


def again(result: RunResult) -> Section:
    """The command, and the plan as it ran."""
    plan = Section(
        "The plan as it ran", [Preformatted.of("plan", result.plan_text)], Depth.DETAIL, key="plan"
    )
    command = Preformatted("command", (one_line(result.rerun),))
    return Section("Run it again", [command, plan], Depth.MAIN, key="rerun", folded=True)


def links(result: RunResult, record: str | None) -> list[Link]:
    """Links to the article and to files of the record. `record`: path of its folder relative to the page,
    None if it is not available.
    """
    article = [Link("The article", result.article)] if result.article else []
    return [*article, *(Link(name, f"{record}/{file}") for file, name in FILES.items() if record)]


def files(result: RunResult, record: str | None) -> Section:
    """Every kind of raw file, with a description of its contents."""
    if not result.folder:
        lost = Paragraph("The record was not kept. To keep it: jostle hit URL --into DIR", small=True)
        return Section("Raw files", [lost], Depth.DETAIL, key="files", folded=True)
    table = Table("Raw files", columns("file | contents"), prose=True)
    for file, about in ABOUT.items():
        table.add(file, about)
    where = Paragraph(f"Recorded in {result.folder}.", small=True)
    blocks: list[Block] = [where, *links(replace(result, article=""), record), table]
    return Section("Raw files", blocks, Depth.DETAIL, key="files", folded=True)
