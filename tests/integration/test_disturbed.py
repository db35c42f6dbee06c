"""A machine that is disturbed on purpose: trials are measured again, and a sentence says what happened."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jostle.host.cores import available_cores, real_time_allowed
from support.real import Jostle, as_json

pytestmark = pytest.mark.alone

PLAN = """
title = "What did the machine do?"
contestants = ["reference-workers"]
rounds = 1

[workload.arrivals]
request = { get = "/count/100000" }
load = { rate = "400/s", for = "2s" }
"""

BURSTS = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
while os.getppid() == int(sys.argv[2]):
    until = time.monotonic() + 0.35
    while time.monotonic() < until:
        pass
    time.sleep(0.65)
"""
"""35 % of a core, in bursts, before all others."""


@contextlib.contextmanager
def bursts() -> Iterator[None]:
    """On every core that jostle may use."""
    processes = [
        subprocess.Popen([sys.executable, "-c", BURSTS, str(core), str(os.getpid())])
        for core in available_cores()
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.skipif(not real_time_allowed(), reason="needs real-time scheduling: root, or RLIMIT_RTPRIO")
def test_bursts_of_others_end_in_repeats_and_a_sentence(jostle_command: Jostle, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    with bursts():
        result = as_json(jostle_command("run", plan, "--into", tmp_path / "runs", "--json", "--no-pages"))
    (run,) = (tmp_path / "runs").iterdir()
    journal = [json.loads(line) for line in (run / "journal.ndjson").read_text().splitlines()]
    aside = [entry for entry in journal if entry["event"] == "trial set aside"]
    assert len(aside) in (1, 2)
    assert all((run / entry["folder"] / "machine.ndjson").is_file() for entry in aside)
    assert any("other processes used the cores for" in entry["why"] for entry in aside)
    assert sum(note.startswith("Measured again") for note in result["notes"]) == len(aside)
    assert [trial["number"] for trial in result["trials"]] == [1]
