"""What is printed while a run goes on, by a manual clock."""

import io
from pathlib import Path

from jostle.cli.display import Display
from jostle.cli.progress import RunProgress
from jostle.record.verdict import Verdict
from jostle.runner.observer import Repeated, Scheduled, TrialEnded, TrialStarted
from jostle.runner.schedule import Planned
from support.results import validity

TRIALS = [
    Planned(number, contestant, "w", round_number)
    for number, (round_number, contestant) in enumerate(
        ((r, c) for r in range(1, 11) for c in ("go", "node")), 1
    )
]


class Clock:
    """Seconds, as the test says."""

    def __init__(self) -> None:
        self.s = 100.0

    def __call__(self) -> float:
        return self.s


def printed(*, fails: str = "", verbose: bool = False, trials: list[Planned] = TRIALS) -> list[str]:
    """The lines of a run in which each trial takes 6 s, and those of `fails` cannot start."""
    stream, clock = io.StringIO(), Clock()
    progress = RunProgress(Display(stream), verbose=verbose, now=clock)
    progress(Scheduled(TRIALS, Path("runs/x")))
    for planned in trials:
        progress(TrialStarted(planned, 5.0))
        clock.s += 6.0
        if planned.contestant == fails:
            progress(TrialEnded(planned, "failed", f"{fails} exited\nno port {planned.number}", None))
        else:
            progress(TrialEnded(planned, "ended", "", validity(Verdict.VALID)))
    return stream.getvalue().splitlines()


def test_a_log_gets_a_line_per_tenth_with_the_time_that_is_left() -> None:
    lines = printed()
    assert lines[0] == "20 trials, recorded in runs/x"
    assert lines[1] == "2 of 20 trials done, about 2 min left"
    assert lines[-1] == "18 of 20 trials done, about 12 s left"
    assert len(lines) == 10


def test_a_resumed_run_counts_what_is_left_only() -> None:
    assert printed(trials=TRIALS[10:])[1] == "12 of 20 trials done, about 48 s left"


def test_trials_that_are_added_are_announced() -> None:
    stream = io.StringIO()
    progress = RunProgress(Display(stream), now=Clock())
    progress(Scheduled(TRIALS[:18], Path("runs/x")))
    progress(Scheduled(TRIALS, Path("runs/x"), "rounds of node fall into two groups"))
    progress(Scheduled(TRIALS, Path("runs/x")))
    assert stream.getvalue().splitlines() == [
        "18 trials, recorded in runs/x",
        "2 trials added: rounds of node fall into two groups",
    ]


def test_a_server_that_cannot_start_is_reported_once() -> None:
    lines = printed(fails="node")
    assert [line for line in lines if "exited" in line] == ["2/20 node, w, round 1: failed: node exited"]


def test_verbose_has_a_line_for_every_trial() -> None:
    lines = printed(verbose=True)
    assert len(lines) == 21
    assert lines[1] == "1/20 go, w, round 1: ✓ valid"


def test_a_log_tells_that_trials_are_measured_again_and_names_the_first() -> None:
    stream = io.StringIO()
    progress = RunProgress(Display(stream))
    for planned in TRIALS[:2]:
        progress(Repeated(planned, "the machine was busy"))
    (line,) = stream.getvalue().splitlines()
    assert line.startswith(
        "go, w, round 1 is measured again at the end of its round: the machine was busy (more"
    )


def test_quiet_says_nothing() -> None:
    stream = io.StringIO()
    RunProgress(Display(stream, quiet=True))(Scheduled(TRIALS, Path("runs/x")))
    assert stream.getvalue() == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_one_line_changes_and_what_is_said_stays_above_it() -> None:
    stream, clock = Terminal(), Clock()
    with Display(stream) as display:
        progress = RunProgress(display, now=clock)
        progress(Scheduled(TRIALS, Path("runs/x")))
        progress(TrialStarted(TRIALS[0], 5.0))
        clock.s += 6.0
        progress(TrialEnded(TRIALS[0], "failed", "go exited", None))
        progress(TrialStarted(TRIALS[1], 5.0))
    shown = stream.getvalue()
    assert "1/20 go, w, round 1: failed: go exited" in shown
    assert "2/20 node w, round 1 of 10" in shown
    assert "about 2 min left" in shown
    assert "recorded in" not in shown


def test_a_status_needs_a_terminal_and_what_stays_does_not() -> None:
    log, terminal = io.StringIO(), Terminal()
    for stream in (log, terminal):
        with Display(stream) as display:
            display.tell("gentle: 50 requests/s", True)
            display.tell("asking how long /a takes", False)
    assert log.getvalue() == "gentle: 50 requests/s\n"
    assert "asking how long /a takes" in terminal.getvalue()
