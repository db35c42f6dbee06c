"""The same figures for other programs: JSON, CSV and Markdown."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from typing import Any

from jostle.analysis.results import Estimate, RunResult
from jostle.report import tables
from jostle.report.sections import costs, phased
from jostle.report.sections import goodput as within
from jostle.report.sections import published as beside
from jostle.report.tables import Table
from jostle.report.text import published, when

__all__ = ["finite", "inline", "markdown_table", "to_csv", "to_json", "to_markdown"]

COLUMNS = [
    "form",
    "contestant",
    "workload",
    "trial",
    "quantity",
    "value",
    "low",
    "high",
    "bound",
    "unit",
    "n",
    "note",
]


def to_json(result: RunResult) -> dict[str, Any]:
    """`RunResult` as plain data; "format" is its version. What is no finite number becomes null."""
    found: dict[str, Any] = finite(result.as_json())
    return {"kind": "jostle result", "format": found.pop("format"), **found}


def finite(value: Any) -> Any:
    """Plain data in which null stands for what is no finite number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    return value


def to_csv(result: RunResult) -> str:
    """One row per figure: of every comparison, every cell, every trial. Units stand in a column of their own.

    Text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in figures(result):
        writer.writerow([_no_formula(row.get(c)) for c in COLUMNS])
    return out.getvalue()


def figures(result: RunResult) -> list[dict[str, Any]]:
    """A row per figure, with those of `COLUMNS` that it has; `value` of a verdict is text."""
    return [
        *_claim_rows(result),
        *_comparison_rows(result),
        *_cell_rows(result),
        *_goodput_rows(result),
        *phased.figures(result),
        *_trial_rows(result),
    ]


def _claim_rows(result: RunResult) -> Iterator[dict[str, Any]]:
    for number, c in enumerate(result.claims, 1):
        yield {"quantity": f"claim {number}", "value": c.verdict, "note": c.statement}
        for part in c.criteria:
            about = {"contestant": part.contestant, "workload": part.workload}
            note = f"{part.verdict}: {part.rule}"
            yield about | _figure(f"claim {number}: {part.measure}", part.estimate) | {"note": note}
    for f in result.published:
        about = {"contestant": f.beside or f.contestant, "workload": f.workload}
        about |= {"unit": f.unit, "note": f.source}
        yield about | {"quantity": f"published {f.quantity}", "value": f.value}


def _comparison_rows(result: RunResult) -> Iterator[dict[str, Any]]:
    for s in result.starvation:
        about = {"form": s.form, "contestant": s.contestant}
        yield about | _figure("throughput alone", s.alone)
        yield about | _figure("throughput with slow", s.with_slow)
        yield about | _figure("starvation index", s.index)
        yield about | _figure("blocking index", s.blocking)
        yield about | _figure("slow request alone", s.slow_s)


def _cell_rows(result: RunResult) -> Iterator[dict[str, Any]]:
    for c in result.summaries:
        about = {"contestant": c.contestant, "workload": c.workload}
        yield about | {"quantity": "verdict", "value": c.verdict}
        yield about | _figure("throughput", c.throughput)
        for kind, found in (("response", c.response), ("service", c.service), *c.parts.items()):
            for name, estimate in found.items():
                yield about | _figure(f"{kind} time {name}", estimate)
        for kind, count in c.outcomes.items():
            yield about | {"quantity": f"outcome {kind}", "value": count, "unit": "requests"}
        for kind, reasons in c.failures.items():
            for why, count in reasons.items():
                yield about | {"quantity": f"outcome {kind}: {why}", "value": count, "unit": "requests"}
        yield about | {"quantity": "share not as expected", "value": c.error_share}
        yield about | _figure("server CPU per request", c.server_cpu_s_per_request)
        if c.server_rss_max_bytes is not None:
            yield about | {"quantity": "server memory", "value": c.server_rss_max_bytes, "unit": "bytes"}


def _goodput_rows(result: RunResult) -> Iterator[dict[str, Any]]:
    for g in result.goodputs:
        about = {"contestant": g.contestant, "workload": g.workload, "note": within.chosen(g)}
        for quantity, found in (
            ("hits", g.hits),
            ("timeouts", g.timeouts),
            ("least hits in a second", g.least_per_s),
            ("most hits in a second", g.most_per_s),
            ("goodput", g.goodput),
            ("dispersion", g.dispersion),
            ("database CPU per request", g.database_cpu_s_per_request),
        ):
            yield _figure(quantity, found) | about


def _trial_rows(result: RunResult) -> Iterator[dict[str, Any]]:
    for t in result.trials:
        about = {"contestant": t.contestant, "workload": t.workload, "trial": t.number}
        yield about | {
            "quantity": "verdict",
            "value": t.validity.verdict,
            "note": "; ".join(t.validity.reasons),
        }
        yield about | {"quantity": "throughput", "value": t.throughput_per_s, "unit": "/s"}
        for name, estimate in t.response.items():
            yield about | _figure(f"response time {name}", estimate)


def _figure(quantity: str, e: Estimate) -> dict[str, Any]:
    """An estimate as cells of a row."""
    values = {"value": e.value, "low": e.low, "high": e.high}
    return {"quantity": quantity, **values, "bound": e.bound, "unit": e.unit, "n": e.n, "note": e.note}


def _no_formula(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"  # more digits than any of them has
    if isinstance(value, str) and value[:1] in ("=", "+", "@", "-", "\t", "\r") and not _is_number(value):
        return "'" + value
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def to_markdown(result: RunResult) -> str:
    """Verdict, findings and tables for a pull request or a wiki."""
    parts = [
        f"# {inline(result.title)}",
        f"**{result.verdict.symbol} {result.verdict}.** {result.verdict.meaning}",
        "\n".join(f"- {inline(reason)}" for reason in result.reasons),
        "" if result.complete else f"**Cut short:** {inline(result.incomplete_reason)}",
    ]
    for form in dict.fromkeys(s.form for s in result.starvation):
        parts.append(markdown_table(tables.comparison(result, form)))
        chosen = [s for s in result.starvation if s.form == form]
        parts.append("\n".join(f"- {inline(s.sentence)}" for s in chosen if s.sentence))
        told = [(s.contestant, published(s.published_alone, s.published_with)) for s in chosen]
        parts.append("\n".join(f"- published, {inline(name)}: {inline(text)}" for name, text in told if text))
    parts += _published(result)
    if result.requirements:
        parts.append(markdown_table(tables.requirements(result)))
    parts.append(markdown_table(tables.summaries(result)))
    phased_loads = (phased.held(result), phased.phases(result), phased.traffic(result))
    parts += [markdown_table(table) for table in phased_loads if table.rows]
    parts.append(markdown_table(beside.five_numbers(result, result.summaries)))
    parts += [markdown_table(table) for table in costs.tables_of(result)]
    parts.append(markdown_table(costs.earlier(result)) if result.earlier else "")
    if result.goodputs:
        parts += [markdown_table(within.hits(result)), markdown_table(within.goodput(result))]
    parts.append("\n".join(f"- {inline(c.title)}: {inline(c.sentence)}" for c in result.comparisons))
    failed = tables.failed_checks(result)
    parts.append(markdown_table(failed) if failed.rows else "")
    parts.append(markdown_table(tables.outcomes(result)))
    skipped = [f"- not measured: {inline(name)} ({inline(why)})" for name, why in result.skipped.items()]
    parts += [
        "\n".join(skipped),
        f"Measured {when(result.started)}. Again: `{result.rerun.replace('`', '')}`",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _published(result: RunResult) -> list[str]:
    """Claims, figures and the set-up, where something was published."""
    found = []
    if result.claims:
        found += [markdown_table(beside.claims(result)), markdown_table(beside.parts(result))]
    if result.published:
        found.append(markdown_table(beside.figures(result)))
    if result.published_setup:
        lines = [line for line in result.published_setup.splitlines() if line.strip()]
        found.append("### What the article used\n\n" + "\n".join(f"- {inline(line)}" for line in lines))
        found.append(markdown_table(beside.setup(result)))
    return found


def markdown_table(table: Table) -> str:
    """A table with its caption as a heading."""
    rule = ["---" if i < table.words else "---:" for i in range(len(table.columns))]
    rows = [
        [inline(name) for name in table.columns],
        rule,
        *[[inline(str(v)) for v in row] for row in table.rows],
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return f"### {inline(table.caption)}\n\n" + "\n".join(lines)


def inline(text: str) -> str:
    """Text that cannot end its cell, start markup or become HTML."""
    text = " ".join(text.split())
    for character in "\\`*_[]|":
        text = text.replace(character, "\\" + character)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
