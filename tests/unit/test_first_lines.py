"""What stands above the figures: each cause once, with what to do, and what the server did before doubts."""

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from jostle.analysis.results import Check, RunResult, Validity
from jostle.analysis.validity.figures import RATES, TIMES
from jostle.record.verdict import Verdict
from support.rendered import print_result
from support.results import RUNTIMES, make_hit, make_starvation

ERRORS = Check(
    "errors", Verdict.VALID, 0.0005, None, "share", "0.05 % failed: 4 × 503", "look there", notable=True
)
AWAY = "no response from 5.20 s to the end"
OUTAGE = Check("outage", Verdict.SUSPECT, 0.48, 0, "share", AWAY, "look at its log", RATES)
MACHINE = Check(
    "machine",
    Verdict.SUSPECT,
    0.33,
    0.05,
    "share",
    "other programs used the server's cores for 33 %",
    "stop them",
    (*RATES, *TIMES),
    "machine",
)
LATE = Check(
    "lateness",
    Verdict.SUSPECT,
    0.6,
    0.5,
    "share",
    "the generator was late",
    "an idle machine",
    ("p99",),
    "generator",
)
NOTHING = Check("responses", Verdict.INVALID, 0, 1, "requests", "no request was sent", "start it")


def head(result: RunResult, count: int = 12, *, full: bool = False) -> list[str]:
    out = io.StringIO()
    print_result(result, Console(file=out, width=100), full=full)
    return [line.strip() for line in out.getvalue().splitlines()[:count]]


def checked(result: RunResult, checks: Sequence[Check], every: int = 1) -> RunResult:
    """The result with these checks in every so manieth trial."""
    trials = [
        replace(trial, validity=Validity.of(checks if i % every == 0 else []))
        for i, trial in enumerate(result.trials)
    ]
    return replace(result, trials=trials, verdict=Validity.of(checks).verdict)


def test_errors_are_told_on_a_valid_run() -> None:
    lines = head(checked(make_hit(), [ERRORS]))
    assert lines[0].startswith("✓ valid")
    assert lines[1:3] == ["0.05 % failed: 4 × 503", "→ look there"]


@pytest.mark.parametrize(
    ("failed", "first"),
    [(0.04, "✓ valid  "), (0.5, "✗ 50 % failed (the measurement is valid)  ")],
)
def test_above_a_few_percent_the_first_line_is_about_the_failures(failed: float, first: str) -> None:
    """A tick beside a server that fails every second request reads as praise of the server."""
    hit = make_hit()
    (summary,) = hit.summaries
    failing = replace(checked(hit, [ERRORS]), summaries=[replace(summary, error_share=failed)])
    assert head(failing)[0].startswith(first)
    doubtful = replace(failing, verdict=Verdict.SUSPECT)
    assert head(doubtful)[0].startswith("? suspect  ")


def test_of_several_workloads_the_first_line_has_the_most_failures() -> None:
    result = checked(make_starvation(RUNTIMES[:2]), [])
    summaries = [replace(one, error_share=0.1 * n) for n, one in enumerate(result.summaries)]
    most = 10 * (len(summaries) - 1)
    expected = f"✗ up to {most} % failed (the measurement is valid)  "
    assert head(replace(result, summaries=summaries))[0].startswith(expected)


def test_what_may_be_the_generator_s_stands_beside_the_times() -> None:
    said = "The generator slept instead of polling: waking up takes up to 50 µs."
    lines = head(replace(make_hit(), of_the_generator=[said], notes=["A note."]), 60)
    times, histogram = (
        next(n for n, line in enumerate(lines) if line.startswith(word)) for word in ("max", "up to")
    )
    assert times < lines.index(said) < histogram < lines.index("A note.")
    several = replace(make_starvation(RUNTIMES[:2]), of_the_generator=[said])
    assert said in " ".join(head(several, 200, full=True))


def test_the_times_say_what_their_brackets_are() -> None:
    legend = "[ ]: confidence interval of 95 %, in the unit of the figure before it"
    hit = make_hit()
    assert legend in head(hit, 40)
    (summary,) = hit.summaries
    p99 = replace(summary.response["p99"], high=(summary.response["max"].value or 0.0) * 2)
    rounds = replace(summary, rounds=3, response={**summary.response, "p99": p99})
    text = " ".join(head(replace(hit, summaries=[rounds]), 40))
    assert f"{legend}; of a typical round, which may take longer than all that was seen" in text


def test_what_is_invalid_comes_first_then_the_server_then_doubts() -> None:
    lines = head(checked(make_hit(), [LATE, MACHINE, ERRORS, OUTAGE, NOTHING]))
    assert lines[1] == "no request was sent"
    assert lines[3:6:2] == [AWAY, "0.05 % failed: 4 × 503"]
    assert lines[7].startswith("And 2 more reasons (jostle report --full runs/")
    everything = " ".join(head(checked(make_hit(), [LATE, MACHINE, ERRORS, OUTAGE, NOTHING]), 20, full=True))
    assert "the generator was late" in everything


def test_a_cause_is_told_once_for_all_trials() -> None:
    result = checked(make_starvation(RUNTIMES[:2]), [MACHINE], every=3)
    text = "\n".join(head(result))
    trials = len(result.trials)
    assert f"in {-(-trials // 3)} of {trials} trials (worst: " in text
    assert text.count("other programs used the server's cores") == 1


def test_where_all_is_in_doubt_no_list_says_so() -> None:
    assert not any("Doubtful" in line for line in head(checked(make_hit(), [MACHINE])))
    assert any(
        line == "Doubtful: p99. All other figures stand." for line in head(checked(make_hit(), [LATE]))
    )


def test_a_figure_that_no_table_shows_spoils_only_its_own_verdict() -> None:
    hidden = replace(LATE, affects=("p5", "p25", "spread"))
    validity = Validity.of([hidden])
    assert (validity.verdict, validity.reasons) == (Verdict.VALID, [])
    assert validity.verdict_of("p5") is Verdict.SUSPECT


def test_a_cut_is_told_once() -> None:
    result = make_hit()
    end = Check("end", Verdict.VALID, 0.3, None, "share", "cut short after 3.00 s of 10.0 s: interrupted")
    (trial,) = result.trials
    cut = replace(trial, status="cut short", validity=Validity.of([end]))
    stopped = replace(
        result, trials=[cut], complete=False, incomplete_reason="interrupted", verdict=Verdict.SUSPECT
    )
    lines = head(stopped, 6)
    assert sum("cut short" in line for line in lines) == 1
    assert "cut short: after 3.00 s of 10.0 s: interrupted" in lines
    assert not any("Doubtful" in line for line in lines)
