"""The table of situations, the table of figures, and whether the bars are kept."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from jostle.record.verdict import Verdict
from truth.verdict.judged import FIGURES
from truth.verdict.right import SORTS, Run, Sorted, sorted_figures
from truth.verdict.situations import ANYTIME, Situation

__all__ = ["Row", "broken", "false_diagnoses", "markdown", "rows_of", "shares"]

MAX_WRONG_CALLED_GOOD = 0.02
MAX_GOOD_THROWN_AWAY = 0.15
MIN_NAMED = 0.95
MIN_ORDINARY = 0.95

STOLEN = 0.005
"""If a hypervisor took more of the machine's time than this, a result may say so."""
OF_STEAL = ("steal", "machine", "lateness", "lost time")


@dataclass(frozen=True)
class Row:
    """All runs of a situation."""

    situation: Situation
    runs: Sequence[Run]
    figures: Sequence[Sorted]

    @property
    def verdicts(self) -> str:
        """How many runs were valid, suspect and invalid."""
        return " / ".join(str(sum(run.said.verdict is v for run in self.runs)) for v in Verdict)

    @property
    def named(self) -> int:
        """In how many runs the first lines name the planted fault."""
        return sum(bool(re.search(self.situation.named, run.said.head)) for run in self.runs)

    @property
    def false_diagnoses(self) -> list[str]:
        return [name for run in self.runs for name in false_diagnoses(run)]


def false_diagnoses(run: Run) -> list[str]:
    """The checks that speak up although nothing was planted of which they should."""
    may = {*run.situation.may_say, *ANYTIME, *(OF_STEAL if run.stolen > STOLEN else ())}
    return [name for name in run.said.checks if name not in may]


def rows_of(situations: Iterable[Situation], runs: Sequence[Run]) -> list[Row]:
    """In the order of the situations; those that were not measured are left out."""
    found = []
    for situation in situations:
        own = [run for run in runs if run.situation == situation]
        if own:
            found.append(Row(situation, own, [one for run in own for one in sorted_figures(run, runs)]))
    return found


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({100 * part / whole:.1f} %)" if whole else "")


def _sorts(figures: Sequence[Sorted]) -> list[int]:
    return [sum(one.sort == sort for one in figures) for sort in SORTS]


def markdown(rows: Sequence[Row]) -> str:
    """Both tables."""
    runs = sum(len(row.runs) for row in rows)
    whole = [one for row in rows for one in row.figures]
    head = "good, called good | good, thrown away | wrong, called good | wrong, thrown away"
    lines = [
        f"{runs} runs of {len(rows)} situations, {len(whole):,} figures. What became of each figure:",
        "",
        f"| figure | {head} |",
        "|---|---|---|---|---|",
    ]
    for metric in (*FIGURES, "all"):
        figures = [one for one in whole if metric in (one.figure.metric, "all")]
        lines.append(f"| {metric} | " + " | ".join(map(str, _sorts(figures))) + " |")
    lines += [
        "",
        "By situation: how many runs were valid, suspect and invalid; the same four sorts of figures; in how "
        "many runs the first three lines name the fault that was planted in the server; and what else was "
        "said that was not planted.",
        "",
        "| planted | load | valid / suspect / invalid | four sorts | named | false diagnoses |",
        "|---|---|---|---|---|---|",
        *map(_line, rows),
        "",
        "| bar | measured | kept |",
        "|---|---|---|",
    ]
    words = {True: "yes", False: "**no**", None: ""}
    lines += [f"| {bar.text} | {bar.measured} | {words[bar.kept]} |" for bar in bars(rows)]
    return "\n".join(lines)


def _line(row: Row) -> str:
    s = row.situation
    sorts = " / ".join(map(str, _sorts(row.figures))) if row.figures else "no single truth"
    named = f"{row.named} of {len(row.runs)}" if s.named else ""
    said = row.false_diagnoses
    told = ", ".join(f"{name} ({said.count(name)})" for name in dict.fromkeys(said))
    return f"| {s.name} | {s.load or s.ordinary} | {row.verdicts} | {sorts} | {named} | {told} |"


@dataclass(frozen=True)
class Bar:
    """What is promised, and what was measured of it. `kept` is None for what is told without a promise."""

    text: str
    measured: str
    kept: bool | None


def shares(rows: Sequence[Row]) -> tuple[float, float]:
    """The share of the figures called good that are wrong, and of the good ones that were thrown away."""
    good, thrown, missed, _ = _sorts([one for row in rows for one in row.figures])
    return missed / max(1, good + missed), thrown / max(1, good + thrown)


def bars(rows: Sequence[Row]) -> Iterator[Bar]:
    whole = [one for row in rows for one in row.figures]
    good, thrown, missed, _ = _sorts(whole)
    called_good, truly_good = good + missed, good + thrown
    yield Bar(
        "wrong, but called good: at most 2 % of those called good",
        _share(missed, called_good),
        missed <= MAX_WRONG_CALLED_GOOD * called_good,
    )
    yield Bar(
        "good, but thrown away: at most 15 % of those that are good",
        _share(thrown, truly_good),
        thrown <= MAX_GOOD_THROWN_AWAY * truly_good,
    )
    strictly = [one for one in whole if one.strict == "wrong, called good"]
    yield Bar(
        "the same, if the mean of the undisturbed runs is taken for the truth (no bar)",
        _share(len(strictly), called_good),
        kept=None,
    )
    faults = [row for row in rows if row.situation.named]
    named, planted = sum(row.named for row in faults), sum(len(row.runs) for row in faults)
    yield Bar(
        "planted faults named in the first three lines: at least 95 %",
        _share(named, planted),
        named >= MIN_NAMED * planted,
    )
    false = [name for row in rows for name in row.false_diagnoses]
    yield Bar("no false diagnosis", str(len(false)), not false)
    ordinary = [run for row in rows if _is_ordinary(row) for run in row.runs]
    right = sum(_rightly(run, row) for row in rows if _is_ordinary(row) for run in row.runs)
    yield Bar(
        "undisturbed ordinary runs that are valid, or suspect for a figure that is wrong: at least 95 %",
        _share(right, len(ordinary)),
        right >= MIN_ORDINARY * len(ordinary),
    )


def _is_ordinary(row: Row) -> bool:
    return bool(row.situation.ordinary) or row.situation.undisturbed


def _rightly(run: Run, row: Row) -> bool:
    """Whether a run without disturbance is valid, or suspect for what really is wrong."""
    if run.said.verdict is Verdict.VALID:
        return True
    own = {id(figure) for figure in run.said.figures}
    return any(one.sort == "wrong, thrown away" for one in row.figures if id(one.figure) in own)


def broken(rows: Sequence[Row]) -> list[str]:
    """The bars that are not kept."""
    return [f"{bar.text}: {bar.measured}" for bar in bars(rows) if bar.kept is False]
