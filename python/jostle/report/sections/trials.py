"""Every trial, how its requests ended, and what went wrong."""

from collections.abc import Iterator

from jostle.analysis.results import Estimate, RunResult, TrialResult
from jostle.formatting import MISSING, Formatted, amount, formatted, listed, percent, tallied
from jostle.record.outcomes import outcome_label
from jostle.report.document import (
    Column,
    Depth,
    Mark,
    Paragraph,
    Preformatted,
    Section,
    Table,
    Value,
    columns,
)
from jostle.report.sections.verdict_marks import verdict_mark
from jostle.report.workload import not_answered, quantiles, statuses_in_words
from jostle.text import first_line

__all__ = ["not_measured", "outcomes", "section", "trials"]

MAX_TRIALS = 500
HOW = (
    "Trend: how the median changed during a trial with a steady load: flat, warm-up (longer at first), "
    "slowdown (shorter at first), unsettled; a dash: not judged. Generator CPU: of its busiest thread, "
    "without the time in which it polled. Generator late: p99 of how long after its due time a request was "
    "sent, as far as the generator itself was to blame."
)
HOW_ENDED = (
    "Failed: refused, reset, timed out or answered wrongly, as a share of the requests that ended by "
    "themselves; claims and comparisons call it errors. Unfinished: still waiting when the trial ended, "
    "which is not a failure. Not answered: timed out or unfinished, as a share of all requests."
)


def not_measured(result: RunResult) -> Section:
    """Contestants that were left out and trials that failed, with the last output of their servers."""
    blocks = [
        Paragraph(f"not measured: {name} ({'; '.join(why.splitlines())})", "warning")
        for name, why in result.not_measured()
    ]
    seen: dict[tuple[str, str], list[TrialResult]] = {}
    for t in result.trials:
        if t.reason:
            seen.setdefault((t.contestant, t.reason), []).append(t)
    failed = [block for (_, why), group in seen.items() for block in _failed(group, why)]
    depth = Depth.ANSWER if len(result.summaries) == 1 else Depth.MAIN
    said = result.notes if len(result.summaries) == 1 else [*result.of_the_generator, *result.notes]
    notes = Section("", [Paragraph(note, small=True) for note in said], depth)
    return Section("Notes", [*blocks, *failed, notes], key="notes")


def _failed(group: list[TrialResult], why: str) -> Iterator[Paragraph | Preformatted]:
    """A warning, and the server's last output, for a group of trials that failed for the same reason."""
    first, *more = why.splitlines()
    t = group[0]
    which = f"trial {t.number}" if len(group) == 1 else f"{len(group)} trials"
    workloads = listed(list(dict.fromkeys(one.workload for one in group)))
    yield Paragraph(f"{which} ({t.contestant}, {workloads}) {t.status}: {first_line(why)}", "warning")
    if more:
        yield Preformatted.of("its last output" if first.endswith(":") else "what to do", "\n".join(more))


def section(result: RunResult) -> Section:
    """How requests ended, then every trial and every request name."""
    count = len(result.trials)
    title = f"{count} trial{'' if count == 1 else 's'}, in the order in which they ran"
    every = Section(title, [trials(result), Paragraph(HOW, small=True)], Depth.DETAIL)
    names = Section("By request name", [requests(result)], Depth.DETAIL)
    return Section(
        "Outcomes and trials",
        [outcomes(result), Paragraph(HOW_ENDED, small=True), every, names],
        Depth.MAIN,
        key="trials",
        folded=True,
    )


def outcomes(result: RunResult) -> Table:
    """How often each outcome occurred; only outcomes that occurred at all have a column, and statuses of
    right responses only if there are several, or redirects.
    """
    with_statuses = any(statuses_in_words(c.all_statuses) for c in result.summaries)
    kinds = list(dict.fromkeys(k for c in result.summaries for k in c.outcomes))
    names = [Column(name, short=name) for name in (*map(outcome_label, kinds), "failed")]
    names.append(Column("not answered", short="not answered"))
    names += columns("right responses =") if with_statuses else []
    table = Table("How the requests ended", [*columns("workload = | contestant ="), *names])
    for c in result.summaries:
        counts = [amount(c.outcomes.get(k, 0), "count") for k in kinds]
        lost = percent(c.error_share), percent(not_answered(c.outcomes))
        statuses = [tallied(c.all_statuses)] if with_statuses else []
        table.add(c.workload, c.contestant, *counts, *lost, *statuses)
    return table


def trials(result: RunResult) -> Table:
    """One row per trial, in the order in which they ran; at most `MAX_TRIALS` rows."""
    count = len(result.trials)
    more = f" (the first {MAX_TRIALS}; the CSV export has all)" if count > MAX_TRIALS else ""
    names = columns(
        "no. | contestant | workload | round | verdict | trend",
        "throughput | offered | p50 | p99 | longest | failed | not answered"
        " | generator CPU | generator late | memory",
    )
    table = Table(f"Every trial in the order in which it ran{more}", names)
    for t in result.trials[:MAX_TRIALS]:
        times = (found.value for found in quantiles(t.response, ("p50", "p99", "max")))
        rates = (amount(t.throughput_per_s, "/s"), amount(t.offered_per_s, "/s"))
        lost = (percent(t.error_share), percent(not_answered(t.outcomes)))
        generator = (percent(t.generator_cpu), amount(t.pacing_p99_s, "s"))
        about = (str(t.number), t.contestant, t.workload, str(t.round), _ended(t), t.trend or MISSING)
        table.add(*about, *rates, *times, *lost, *generator, amount(t.server_rss_max_bytes, "bytes"))
    return table


def _ended(t: TrialResult) -> Value:
    if t.status == "ended":
        return verdict_mark(t.validity.verdict)
    return Mark("✗", t.status + (f": {first_line(t.reason)}" if t.reason else ""), "bad")


def requests(result: RunResult) -> Table:
    """A row per trial and request name, for workloads with more than one name; at most `MAX_TRIALS` rows."""
    found = [(t, r) for t in result.trials if len(t.requests) > 1 for r in t.requests]
    more = f" (the first {MAX_TRIALS}; the JSON export has all)" if len(found) > MAX_TRIALS else ""
    with_statuses = any(statuses_in_words(r.get("statuses", {})) for _, r in found)
    responses = " | right responses" if with_statuses else ""
    names = columns(f"trial | contestant | workload | request{responses}", "requests | p50 | p99 | max")
    table = Table(f"By request name{more}", names)
    for t, r in found[:MAX_TRIALS]:
        times = r.get("response", {})
        figures = [_either(times.get(q)) for q in ("p50", "p99", "max")]
        total = amount(sum(r.get("outcomes", {}).values()), "count")
        about = (str(t.number), t.contestant, t.workload, str(r.get("name", "")))
        table.add(*about, *([tallied(r.get("statuses", {}))] if with_statuses else []), total, *figures)
    return table


def _either(value: Estimate | float | None) -> Formatted:
    """A quantile, which is an estimate or plain seconds."""
    return formatted(value) if isinstance(value, Estimate) else Formatted(amount(value, "s"))
