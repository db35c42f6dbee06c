"""What a terminal shows while a load is sent, and that it is as it was afterwards."""

import re
import shutil
from pathlib import Path

import pytest

from support.on_terminal import on_terminal
from support.real import command, environment, reference_server
from support.terminal import shown

MAP = re.compile(r"\bms ┤")


def coloured() -> dict[str, str]:
    return {
        name: value for name, value in environment().items() if name not in ("NO_COLOR", "COLUMNS", "TERM")
    }


def figure(name: str, text: str) -> str:
    """What follows the name of a figure."""
    found = re.search(rf"\b{re.escape(name)} +(≥? ?[\d.,]+ ?[mµ]?s)\b", text)
    assert found, (name, text)
    return found[1]


def test_the_last_frame_stays_above_the_report_and_has_its_figures(tmp_path: Path) -> None:
    with reference_server("workers", "--pause", "2s:300ms") as url:
        words = command("hit", f"{url}/work?us=2000", "-c", "4", "-d", "5s", "--into", tmp_path)
        with on_terminal(words, coloured()) as terminal:
            code = terminal.wait()
            assert terminal.is_as_it_was
    assert code in (0, 3), terminal.text
    lines = shown(terminal.text)
    frame, report = lines[:14], "\n".join(lines[14:])
    assert frame[4].startswith("not answered │")
    assert len(re.findall(r"not answered │", "\n".join(lines))) == 1, "a frame is painted over the one before"
    assert any(MAP.search(line) for line in frame[5:11])
    assert "so far" not in frame[0]
    for name in ("p50", "p99"):
        assert figure(name, frame[3]) == figure(name, report)
    assert figure("longest", frame[3]) == figure("max", report)
    (answered,) = re.findall(r"so far ([\d,]+/s) answered", frame[2])
    assert f"throughput  {answered}" in report
    (ok,) = re.findall(r"outcomes +([\d,]+ ok)", frame[12])
    assert ok in report
    assert "48;5;16" in terminal.text, "it has colours"
    assert terminal.text.count("not answered │") >= 8, "several frames a second"


@pytest.mark.parametrize("keys", ["q", "\x03"])
def test_q_and_ctrl_c_stop_and_report(tmp_path: Path, keys: str) -> None:
    with reference_server("run-to-completion") as url:
        words = command("hit", f"{url}/work?us=1000", "-d", "60s", "--into", tmp_path)
        with on_terminal(words, coloured()) as terminal:
            terminal.read_until(lambda text: text.count("not answered │") > 3)
            assert not terminal.is_as_it_was, "keys are read one by one, without echo"
            terminal.press("h")
            terminal.read_until(lambda text: "q stops the load and reports" in text)
            terminal.press(keys)
            code = terminal.wait()
            assert terminal.is_as_it_was
    assert code == 3
    assert "stopped by the user" in terminal.text
    assert "Traceback" not in terminal.text
    assert "^C" not in terminal.text


def test_it_can_be_stopped_by_ctrl_z_and_continued(tmp_path: Path) -> None:
    with reference_server("run-to-completion") as url:
        words = command("hit", f"{url}/work?us=1000", "-d", "60s", "--into", tmp_path)
        with on_terminal(["dash", "-i"], coloured()) as terminal:
            terminal.press(" ".join(words) + "\n")
            terminal.read_until(lambda text: text.count("not answered │") > 3)
            terminal.press("\x1a")
            terminal.read_until(lambda text: "Stopped" in text)
            assert terminal.is_as_it_was
            painted = terminal.text.count("not answered │")
            terminal.press("fg\n")
            terminal.read_until(lambda text: text.count("not answered │") > painted + 2)
            assert not terminal.is_as_it_was
            terminal.press("q")
            terminal.read_until(lambda text: "stopped by the user" in text and "p50" in text)
            terminal.read_until(lambda _: terminal.is_as_it_was)
            terminal.press("exit\n")
            terminal.wait()


def test_a_record_that_goes_away_ends_the_run_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    with reference_server("run-to-completion") as url:
        words = command("hit", f"{url}/work?us=1000", "-d", "60s", "--into", tmp_path / "runs")
        with on_terminal(words, coloured()) as terminal:
            terminal.read_until(lambda text: text.count("not answered │") > 3)
            shutil.rmtree(tmp_path / "runs")
            (tmp_path / "runs").touch()  # no folder can be made there
            code = terminal.wait()
            assert terminal.is_as_it_was
    assert code != 0
    assert "Traceback" not in terminal.text, terminal.text


def test_without_colours_densities_say_how_many(tmp_path: Path) -> None:
    with reference_server("run-to-completion") as url:
        words = command("hit", f"{url}/work?us=1000", "-d", "2s", "--into", tmp_path)
        with on_terminal(words, coloured() | {"NO_COLOR": "1"}, columns=60, lines=16) as terminal:
            terminal.wait()
    frame = shown(terminal.text)[:14]
    assert any("█" in line or "▓" in line for line in frame[5:11])
    assert "\x1b[0;" not in terminal.text
    assert max(map(len, frame)) <= 60


def test_a_terminal_that_is_not_utf_8_gets_what_it_can_show(tmp_path: Path) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with reference_server("run-to-completion") as url:
        words = command("hit", f"{url}/work?us=1000", "-d", "1s", "--into", tmp_path)
        with on_terminal(words, coloured() | ascii_only) as terminal:
            code = terminal.wait()
    assert code in (0, 3)
    assert "not answered ?" in terminal.text
    assert "Traceback" not in terminal.text


def test_a_run_shows_each_trial_and_how_the_others_ended(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("""
title = "Two servers"
contestants = ["reference-null", "reference-run-to-completion"]
rounds = 2
[workload.hello]
request = { get = "/hello" }
load = { clients = 2, for = "1s" }
""")
    words = command("run", tmp_path / "plan.toml", "--no-pages", "--into", tmp_path / "runs")
    with on_terminal(words, coloured()) as terminal:
        code = terminal.wait()
        assert terminal.is_as_it_was
    assert code in (0, 3), terminal.text
    lines = shown(terminal.text)
    (where,) = [line for line in lines if re.match(r"4/4 reference-\S+ hello, round 2 of 2  ", line)]
    assert sum(map(int, re.findall(r"(\d+) (?:valid|suspect|invalid)", where))) == 4
