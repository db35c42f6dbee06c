"""How much load a server can carry: the answer, the curve level by level, the model, and notes."""

from jostle.analysis.results import CapacityResult, Estimate
from jostle.analysis.results.capacity import CapacityAnswer, LevelDecision, LevelResult, Sizing, WhatIf
from jostle.formatting import MISSING, amount, formatted, percent
from jostle.report.document import (
    Block,
    Column,
    Depth,
    Document,
    Figure,
    Mark,
    Paragraph,
    Preformatted,
    Section,
    Table,
)
from jostle.report.workload import statuses_in_words
from jostle.units import format_rate

__all__ = ["capacity_document", "sizing_document", "what_if_document"]

ANSWERS: dict[CapacityAnswer, Mark] = {
    "found": Mark("✓", "found", "good"),
    "generator": Mark("✗", "generator was the limit", "bad"),
    "at least": Mark("≈", "at least", "warning"),
    "none": Mark("✗", "none", "bad"),
    "undecided": Mark("?", "undecided", "warning"),
}

LEVELS: dict[LevelDecision, Mark] = {
    "holds": Mark("✓", "holds", "good"),
    "misses": Mark("✗", "breaks", "bad"),
    "undecided": Mark("·", "not asked further"),
    "generator": Mark("≈", "generator", "warning"),
    "spoiled": Mark("≈", "spoiled", "warning"),
    "away": Mark("≈", "server away", "warning"),
}

HOW = (
    "That a level holds or breaks is decided by a sequential test with an error of 5 % on either side. "
    "How late the generator itself was is a part of the response times, and stands beside them."
)
NOT_FURTHER = (
    " Other levels were not asked further: the interval of the answer, which uses all levels together, was "
    "narrow enough."
)


def capacity_document(result: CapacityResult) -> Document:
    """The document of a capacity run."""
    levels = _levels(result)
    return Document(
        title=result.title,
        mark=ANSWERS[result.answer],
        meaning="",
        facts=[result.started, f"seed {result.seed}"],
        reasons=[],
        cut_short="",
        sections=[
            Section("Answer", _answer(result, levels), key="results", short="answer"),
            Section("Levels", _levels_tried(result, levels) if result.levels else [], key="curve"),
            Section("Model", _model(result) if result.answer == "found" else [], Depth.MAIN, key="model"),
            Section("Notes", [Paragraph(note, "warning") for note in result.notes], key="notes"),
            Section(
                "Again", [Preformatted.of("command", result.rerun)], Depth.DETAIL, key="again", folded=True
            ),
        ],
        depth=Depth.MAIN,
        data=result.as_json,
    )


def _answer(result: CapacityResult, levels: Table) -> list[Block]:
    """The answer, the picture that shows it, and what else is to be said."""
    from jostle.report.charts import capacity as charts

    first, *others = (Paragraph(text) for text in result.sentences)
    curve = [Figure("capacity", lambda: charts.curve(result, levels))] if result.levels else []
    return [first, *curve, *others]


def _levels_tried(result: CapacityResult, levels: Table) -> list[Block]:
    from jostle.report.charts import capacity as charts

    narrow = result.answer == "found" and any(level.decided == "undecided" for level in result.levels)
    return [
        Figure("capacity-sent", lambda: charts.sent(result, levels)),
        levels,
        Section("", [Paragraph(HOW + (NOT_FURTHER if narrow else ""), small=True)], Depth.MAIN),
    ]


def _levels(result: CapacityResult) -> Table:
    """One row per level: the load, the response times, and how busy generator and server were."""
    first = "clients" if result.unit == "clients" else "offered"
    table = Table(
        "Levels",
        [
            Column(first, short=first),
            Column("SLO", "word", "SLO", worded=True),
            Column("broke it"),
            Column("p50", short="p50"),
            Column("p99", short="p99"),
            Column("achieved", short="achieved"),
            Column("generator CPU", short="generator"),
            Column("generator late (p99)", short="late"),
            Column("server cores", short="server"),
            Column("errors"),
            Column("requests"),
            Column("note", "word"),
        ],
    )
    for level in result.levels:
        table.add(
            f"{level.level:g}" if result.unit == "clients" else format_rate(level.level),
            LEVELS[level.decided],
            percent(level.exceeded_share) if level.requests else MISSING,
            formatted(level.response["p50"]),
            formatted(level.response["p99"]),
            format_rate(level.achieved_per_s),
            percent(level.generator_cpu),
            amount(level.lateness_p99_s, "s"),
            MISSING if level.server_cores is None else f"{level.server_cores:.2f}",
            percent(level.error_share),
            f"{level.requests:,}",
            _note(level),
        )
    return table


def _note(level: LevelResult) -> str:
    responses = statuses_in_words(level.statuses)
    parts = ["held out" if level.held_out else "", level.why, f"answers {responses}" if responses else ""]
    return "; ".join(filter(None, parts))


def _model(result: CapacityResult) -> list[Block]:
    model = result.model
    if model is None:
        return (
            [Paragraph(f"{result.model_note[:1].upper()}{result.model_note[1:]}.")]
            if result.model_note
            else []
        )
    table = Table(
        "Predicted and measured, at levels that the model was not fitted to",
        [
            Column("level", short="level"),
            Column("figure", "word", "figure"),
            Column("predicted", short="predicted", intervals=True),
            Column("measured", short="measured"),
            Column("error", short="error"),
            Column("accepted", "word", ""),
        ],
    )
    for one in model.predictions:
        mark = Mark("✓", "accepted", "good") if one.accepted else Mark("✗", "rejected", "bad")
        table.add(
            f"{one.level:g}",
            one.metric,
            formatted(Estimate(one.predicted_s, one.low_s, one.high_s)),
            amount(one.measured_s, "s"),
            f"{one.error:+.1%}".replace("%", " %").replace("-", "\N{MINUS SIGN}"),
            mark if one.bar is not None else "",
        )
    fitted = ", ".join(f"{level:g}" for level in model.fitted_on)
    text = (
        f"Fitted at {fitted}, with the service times of a single client (coefficient of variation: "
        f"{model.service_cv:.2f}). In brackets: the range of nine in ten trials as short as these."
    )
    blocks: list[Block] = [Paragraph(text, small=True), table]
    if law := result.scalability:
        peak = f"peak at {law.peak:.1f} in flight" if law.peak is not None else "no peak"
        note = f" {law.note}." if law.note else ""
        blocks.append(
            Paragraph(
                f"Universal scalability law: contention α = {law.alpha:.3g}, coherence β = {law.beta:.3g}, "
                f"{peak}.{note}",
                small=True,
            )
        )
    return blocks


def what_if_document(result: WhatIf) -> Document:
    """The document of a prediction: predicted figures beside the measured ones."""
    table = Table(
        "Predicted",
        [
            Column("figure", "word", "figure"),
            Column("measured", short="measured", intervals=True),
            Column("predicted", short="predicted", intervals=True),
        ],
    )
    for figure in result.figures:
        unit = "" if figure.predicted.unit == "clients" else None
        now = MISSING if figure.now is None else formatted(figure.now, unit)
        table.add(figure.metric, now, formatted(figure.predicted, unit))
    return Document(
        title=f"What if {', '.join(result.changes)}?",
        mark=Mark("≈", "predicted", "warning"),
        meaning="",
        facts=[result.folder],
        reasons=[],
        cut_short="",
        sections=[Section("Answer", [*(Paragraph(text) for text in result.sentences), table], key="results")],
        depth=Depth.MAIN,
        data=result.as_json,
    )


def sizing_document(result: Sizing) -> Document:
    """The document of a sizing: the number of workers, the assumptions, and the effect of more or fewer."""
    table = Table(
        "Workers",
        [
            Column("workers", short="workers"),
            Column("busy", short="busy"),
            Column("break it", short="break it"),
        ],
    )
    for row in result.rows:
        table.add(f"{row.workers:,}", percent(min(1.0, row.utilisation)), percent(row.broken_share))
    blocks: list[Block] = [*(Paragraph(text) for text in result.sentences), table]
    blocks += [Paragraph(text, small=True) for text in result.assumptions]
    return Document(
        title=result.title,
        mark=Mark("≈", "predicted", "warning"),
        meaning="",
        facts=[],
        reasons=[],
        cut_short="",
        sections=[Section("Answer", blocks, key="results")],
        depth=Depth.MAIN,
        data=result.as_json,
    )
