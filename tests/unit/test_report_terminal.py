"""What the terminal shows: golden files, 80 columns, plain where it is piped."""

import io
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from jostle.analysis.results import Check, Estimate, RunResult, Validity
from jostle.analysis.validity.figures import RATES, TIMES
from jostle.record.verdict import Verdict
from jostle.report.document import Depth, Document, Section, Table, columns
from jostle.report.export.shapes import shape, share_below
from jostle.report.export.text import _short, show
from support.golden import Golden
from support.rendered import print_result
from support.results import RUNTIMES, distribution, make_hit, make_plain, make_starvation, validity


def printed(result: RunResult, *, full: bool = False, terminal: bool = False, width: int = 80) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=terminal, color_system="standard" if terminal else None
    )
    print_result(result, console, full=full)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "result", "full"),
    [
        ("starvation", make_starvation(bad={3: Verdict.SUSPECT}), False),
        ("one-round", make_starvation(RUNTIMES[:2], rounds=1, open_form=False), False),
        ("plain", make_plain(), False),
        ("starvation-full", make_starvation(RUNTIMES[:2], bad={3: Verdict.SUSPECT}), True),
        ("hit", make_hit(), False),
        ("hit-invalid", make_hit(Verdict.INVALID), False),
    ],
)
def test_the_terminal_shows(golden: Golden, name: str, result: RunResult, full: bool) -> None:
    text = printed(result, full=full)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "\x1b" not in text
    golden(f"terminal-{name}.txt", text)


@pytest.mark.parametrize("result", [make_hit(), make_hit(Verdict.INVALID), make_plain()])
def test_forty_columns_are_enough(result: RunResult) -> None:
    text = printed(result, width=40)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 40
    assert "…" not in text
    if "response time" in text:
        assert all(name in text for name in ("p50", "p90", "p99"))


def test_the_verdict_is_the_first_line() -> None:
    assert printed(make_hit(Verdict.INVALID)).startswith("✗ invalid")
    assert printed(make_hit(Verdict.SUSPECT)).startswith("? suspect")
    assert printed(make_plain()).startswith("✓ valid")


def test_colours_only_on_a_terminal() -> None:
    assert "\x1b[1;32m✓ valid" in printed(make_hit(), terminal=True)


def test_cut_short_skipped_and_failed_are_told() -> None:
    result = make_plain()
    failed = replace(result.trials[0], status="failed", reason="the server ended with code 1")
    text = printed(
        replace(
            result,
            trials=[failed, *result.trials[1:]],
            complete=False,
            incomplete_reason="killed",
            finish=f"jostle run --resume {result.folder}",
            skipped={"haskell-warp": "ghc is not installed"},
        )
    )
    assert "cut short: killed" in text
    assert f"→ jostle run --resume {result.folder} finishes it" in text.replace("\n    ", " ")
    assert "not measured: haskell-warp (ghc is not installed)" in text
    assert "trial 1 (node, fast-only) failed: the server ended with code 1" in text


def test_foreign_text_is_neither_markup_nor_control() -> None:
    text = printed(replace(make_hit(), title="[red]\x1b[2J[/red]"), terminal=True)
    assert "\x1b[2J" not in text
    assert "[red]·[2J[/red]" in text


def test_long_names_and_an_empty_run_fit() -> None:
    long = replace(RUNTIMES[0], name="a-contestant-with-a-very-long-name:workers=16,pool=128")
    for result in (make_starvation([long]), make_plain([long]), replace(make_hit(), summaries=[], trials=[])):
        assert max(len(line) for line in printed(result).splitlines()) <= 80
    assert printed(replace(make_hit(), summaries=[], trials=[])).startswith("✓ valid")


def test_long_names_are_broken_where_their_parts_meet() -> None:
    long = replace(RUNTIMES[0], name="a-contestant-with-a-very-long-name:workers=16,pool=128")
    lines = [line.split("  ")[0].strip() for line in printed(make_plain([long])).splitlines()]
    first = lines.index("a-contestant-with-")
    assert lines[first : first + 3] == ["a-contestant-with-", "a-very-long-name:", "workers=16,pool=128"]


def test_a_record_that_is_not_kept_cannot_be_resumed() -> None:
    text = printed(replace(make_hit(), complete=False, incomplete_reason="stopped", folder=""))
    assert "cut short: stopped" in text
    assert "resume" not in text


def test_distributions_without_shapes_are_left_out() -> None:
    """`--json` and quick results are analysed without what only pictures need."""
    result = make_plain()
    summaries = [
        replace(c, response_distribution=replace(c.response_distribution, quantile_p=[], quantile_s=[]))
        for c in result.summaries
    ]
    assert "926" in printed(replace(result, summaries=summaries))


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60), st.integers(1, 40))
def test_a_shape_is_as_wide_as_asked_and_marks_its_ends(times: list[float], width: int) -> None:
    import numpy as np

    found = distribution(np.array(times))
    low, high = min(times), max(max(times), min(times) * 1.05)
    drawn = shape(found, low, high, width)
    assert len(drawn) == width
    assert "█" in drawn


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60), st.floats(1e-7, 1e4), st.floats(1e-7, 1e4))
def test_the_share_below_grows_from_0_to_1(times: list[float], a: float, b: float) -> None:
    import numpy as np

    found = distribution(np.array(times))
    low, high = sorted((a, b))
    assert 0 <= share_below(found, low) <= share_below(found, high) <= 1
    assert share_below(found, max(times)) == 1


def test_ten_requests_are_counted_by_ones() -> None:
    """Nothing lies between two groups of requests, however quantiles are read."""
    import numpy as np

    times = [1e-3] * 4 + [1.0] * 6
    few = replace(distribution(np.array(times)), values_s=times)
    many = distribution(np.array([1e-3] * 400 + [1.0] * 600))
    for found in (few, many):
        drawn = shape(found, 1e-3, 1.0, 10)
        assert (drawn[0] != " ", drawn[1:-1].strip(), drawn[-1]) == (True, "", "█")
    result = make_hit()
    text = printed(replace(result, summaries=[replace(result.summaries[0], response_distribution=few)]))
    assert re.findall(r"(\d+\.?\d*) %\n", text)[-3:] == ["40", "0", "60"]


def test_the_load_stands_above_the_figures() -> None:
    """As the plan has it; a line without what there is no word for."""
    for load, says in (
        ('clients = 1, for = "10s"', "1 client for 10s"),
        ('clients = 10000, requests = 20000, for = "10s"', "10,000 clients, 20,000 requests, at most 10s"),
        ('clients = 2, think = "1s", for = "1s"', "2 clients, thinking 1s for 1s"),
        ('rate = "2000/s", for = "10s"', "2,000/s (poisson arrivals) for 10s"),
    ):
        result = replace(make_hit(), plan_text=f"[workload.hit]\nload = {{ {load} }}")
        assert f"load        {says}\n" in printed(result)
    assert "\nload " not in printed(make_hit())


def test_what_to_do_stands_below_its_reason() -> None:
    result = make_hit(Verdict.INVALID)
    trial = result.trials[0]
    invalid = Verdict.INVALID
    checks = [Check(n, invalid, 1, 0, "", f"{n} failed", f"mend {n}") for n in ("one", "two")]
    failed = replace(trial, validity=Validity(invalid, checks))
    text = printed(replace(result, trials=[failed]))
    assert text.splitlines()[1:5] == ["  one failed", "  → mend one", "  two failed", "  → mend two"]


def test_a_suspect_race_of_two_fits_one_screen_of_35_lines() -> None:
    """The tally of claims, the page, the details and a blank line come below: four lines."""
    result = make_starvation(RUNTIMES[:2])
    remedy = "run on a machine that is otherwise idle"
    message = (
        "other programs or virtual machines used the server's cores for 8.78 % of the time in which it had "
        "work"
    )
    busy = Check(
        "machine", Verdict.SUSPECT, 0.09, 0.05, "share", message, remedy, (*RATES, *TIMES), "machine"
    )
    late = validity(Verdict.SUSPECT).checks
    trials = [
        replace(trial, validity=Validity(Verdict.SUSPECT, [*late, busy] if i % 2 else [*late]))
        for i, trial in enumerate(result.trials)
    ]
    text = printed(replace(result, trials=trials, verdict=Verdict.SUSPECT))
    assert remedy in text
    assert "a core of its own" in " ".join(text.split())
    assert re.search(r"in \d+ of \d+ trials \(worst: ", text)  # each cause once
    assert "Doubtful" not in text  # everything is
    assert len(text.splitlines()) <= 35 - 4


def test_the_last_output_of_a_server_that_did_not_start_keeps_its_lines() -> None:
    why = "node ended with exit code 1; its last output:\nTraceback:\n  no port"
    result = make_hit(Verdict.INVALID)
    check = Check("end", Verdict.INVALID, 0, 1, "share", f"the trial failed: {why}")
    validity = Validity(Verdict.INVALID, [check])
    trial = replace(result.trials[0], status="failed", reason=why, validity=validity)
    nothing = {
        "p50": Estimate(None, note="nothing was measured"),
        "p99": Estimate(None, note="nothing was measured"),
    }
    cell = replace(result.summaries[0], response=nothing, service=nothing)
    failed = replace(result, trials=[trial], summaries=[cell], reasons=[f"the trial failed: {why}"])
    lines = printed(failed).splitlines()
    assert lines[1] == "  the trial failed: node ended with exit code 1"
    assert lines[-2:] == ["    Traceback:", "      no port"]
    assert [line for line in lines if "nothing" in line] == ["p50, p99: nothing was measured"]


def test_the_terminal_pays_for_no_charts() -> None:
    code = (
        "import sys, rich.console, jostle.report.export.text;"
        "print({'altair', 'polars', 'vl_convert', 'jinja2', 'numpy'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "set()"


def test_a_server_that_never_starts_is_reported_once_and_has_no_shares() -> None:
    why = "node ended with exit code 1; its last output:\n│ no port"
    result = make_plain(RUNTIMES[:1])
    failed = [replace(t, status="failed", reason=why) for t in result.trials]
    cells = [replace(c, outcomes={}, error_share=0.0) for c in result.summaries]
    text = printed(replace(result, trials=failed, summaries=cells))
    assert text.count("no port") == 1
    assert "4 trials (node, fast-only and open-only) failed: node ended with exit code 1\n" in text
    assert "0 %" not in text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("it was late", "it was late"),
        ("in 2 of 3 rounds (worst shown), it was late", "in 2 of 3 rounds (worst shown), it was late"),
        ("it was late; others had the core for 2 s", "it was late"),
        ("25 % failed (20 reset; 20 × by peer); see there", "25 % failed (20 reset; 20 × by peer)"),
    ],
)
def test_a_reason_is_short_unless_all_is_asked_for(text: str, short: str) -> None:
    assert _short(text) == short


def test_as_many_columns_of_names_are_folded_as_the_width_asks_for() -> None:
    table = Table("", columns("workload = | contestant = | time =", "p50 = | p99 ="))
    table.add("pushes-with-slow", "java-virtual-threads", "time of one token", "1.23 s", "4.56 s")
    out = io.StringIO()
    document = Document("title", None, "", [], [], "", [Section("", [table])], depth=Depth.MAIN)
    show(document, Console(file=out, width=50))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 50
    assert {"pushes-", "with-slow", "java-", "virtual-", "threads", "1.23", "4.56"} <= set(
        out.getvalue().split()
    )


def test_a_number_is_not_broken_between_its_digits() -> None:
    table = Table("", columns("finding = | why ="))
    late = "Some requests came late, by 5.03 ms at most, of 4,458 requests in 22.5 s. "
    for shift in range(8):
        table.add("pauses", "x" * shift + " " + 3 * late)
    out = io.StringIO()
    document = Document("title", None, "", [], [], "", [Section("", [table])], depth=Depth.MAIN)
    show(document, Console(file=out, width=60))
    assert "5.03 ms" in out.getvalue()
    assert not re.search(r"\d[.,]\s*$", out.getvalue(), re.MULTILINE)


def test_figures_that_do_not_fit_stand_in_a_table_below() -> None:
    table = Table(
        "", columns("workload = | contestant =", "sent = | answered = | lost = | overtaken = | stray =")
    )
    figures = ("12,003", "11,963", "38 (1.9 %)", "19", "21")
    table.add("hit", "127.0.0.1", *figures)
    out = io.StringIO()
    document = Document("title", None, "", [], [], "", [Section("", [table])], depth=Depth.MAIN)
    show(document, Console(file=out, width=48))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 48
    assert all(figure in out.getvalue() for figure in figures)
    assert sum("127.0.0.1" in line for line in lines) > 1


def test_bins_that_differ_in_the_fourth_digit_have_labels_that_differ() -> None:
    result = make_hit()
    narrow = distribution(np.linspace(0.0999, 0.1045, 500))
    text = printed(replace(result, summaries=[replace(result.summaries[0], response_distribution=narrow)]))
    labels = re.findall(r"^ *([\d.]+) ms +█", text, re.MULTILINE)
    assert labels[:4] == ["100.0", "100.5", "101.0", "101.5"]
    assert len(set(labels)) == len(labels)
