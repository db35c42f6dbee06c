"""What a machine can run out of: processes, threads, memory. Each is named, with its limit."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jostle.record import RunRecord
from support.cgroups import cgroup, inside
from support.real import Jostle, command, environment, recorded, reference_server
from support.waiting import eventually

PLAN = """
title = "Is there room?"
contestants = ["reference-null"]
rounds = 1
[workload.hello]
request = { get = "/hello" }
load = { clients = 2, for = "500ms" }
"""


def in_group(group: Path, *words: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
    inner = inside(group, *command(*words))
    return subprocess.run(inner, cwd=cwd, capture_output=True, text=True, timeout=60, env=environment())


@pytest.mark.parametrize("most", [1, 2, 5])
def test_no_more_processes_or_threads(tmp_path: Path, most: int) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    with cgroup("pids", most) as group:
        refused = in_group(group, "run", "plan.toml", "--no-pages", cwd=tmp_path)
    assert refused.returncode in (2, 3)
    said = " ".join((refused.stderr + refused.stdout).replace("│", " ").split())
    assert "Traceback" not in said
    assert "no further process or thread can be started here" in said
    assert f"this container or cgroup {most} (pids.max)" in said


def test_no_more_threads_for_a_load_of_now(tmp_path: Path) -> None:
    with reference_server("null") as url, cgroup("pids", 1) as group:
        refused = in_group(group, "hit", f"{url}/hello", "-n", "10", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith(
        "jostle: no further process or thread can be started here: this container"
    )
    assert "raise the limit" in refused.stderr


HUNGRY = """
[contestant.hungry]
command = ["sh", "-c", "echo $$ > {group}/cgroup.procs; exec python3 hungry.py {{port}}"]
folder = "."
user = "root"
"""

EATER = """
import http.server, sys, threading
held = []
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.path == "/eat":
            held.append(b"x" * 20_000_000)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_a_server_that_the_kernel_ends_for_memory_is_named_and_the_run_goes_on(
    tmp_path: Path, jostle_command: Jostle
) -> None:
    (tmp_path / "hungry.py").write_text(EATER)
    with cgroup("memory", 64_000_000) as group:
        plan = PLAN.replace('["reference-null"]', '["reference-null", "hungry"]').replace("/hello", "/eat")
        plan = plan.replace('"500ms"', '"2s"')  # time enough to eat, whatever the machine does
        plan = plan.replace("request = {", "request = { expect = { status = [200, 404] },")
        (tmp_path / "plan.toml").write_text(plan + HUNGRY.format(group=group))
        finished = jostle_command("run", "plan.toml", "--no-pages", "--rounds", "2")
    assert finished.returncode == 3, finished.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    trials = RunRecord.open(folder).trials
    assert len(trials) == 4
    whys = [trial.why for trial in trials if trial.contestant == "hungry"]
    assert len(whys) == 2
    for why in whys:
        assert why.startswith("hungry was ended by the kernel for memory (limit of 64.0 MB) in the middle")
    assert all(trial.status == "ended" for trial in trials if trial.contestant == "reference-null")


def groups_of_workloads() -> set[str]:
    """In every tree: jostle makes them in the group that it runs in, or in one above."""
    made = re.compile(r"jostle-[0-9a-f]{8}")
    walk = os.walk("/sys/fs/cgroup")  # unlike rglob, it does not mind groups that go away meanwhile
    return {f"{parent}/{name}" for parent, names, _ in walk for name in names if made.fullmatch(name)}


def test_a_server_in_the_limit_of_its_workload_is_ended_beyond_it_and_leaves_no_group(
    tmp_path: Path, jostle_command: Jostle
) -> None:
    with cgroup("memory", 1 << 30):
        pass  # not skipped: groups can be made here
    before = groups_of_workloads()
    (tmp_path / "hungry.py").write_text(EATER)
    plan = PLAN.replace("reference-null", "hungry").replace("/hello", "/eat").replace('"500ms"', '"10s"')
    plan = plan.replace("request = {", 'memory = "64MB"\nrequest = {')
    command = 'command = ["python3", "hungry.py", "{port}"]\nfolder = "."\nuser = "root"\n'
    (tmp_path / "plan.toml").write_text(plan + f"[contestant.hungry]\n{command}")
    finished = jostle_command("run", "plan.toml", "--no-pages")
    assert finished.returncode == 3, finished.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    (trial,) = RunRecord.open(folder).trials
    assert trial.server["memory_limit"] == {"bytes": 64_000_000, "why_not": ""}
    assert trial.why.startswith("hungry was ended by the kernel for memory (limit of 64.0 MB) in the middle")
    eventually(lambda: groups_of_workloads() <= before)  # those of other tests go as well


FILLER = """
import sys
held = []
for _ in sys.stdin:
    held.append(bytearray(b"x") * 2_000_000)
    print("held", flush=True)
"""


def test_jostle_itself_ended_for_memory_leaves_a_run_that_can_go_on(
    tmp_path: Path, jostle_command: Jostle
) -> None:
    """The rest of the group takes the memory away in the middle of a trial, whatever jostle needs itself."""
    (tmp_path / "plan.toml").write_text(PLAN.replace("rounds = 1", "rounds = 10"))
    (tmp_path / "filler.py").write_text(FILLER)
    with cgroup("memory", 200_000_000) as group:
        first = 'echo 1000 > /proc/self/oom_score_adj; exec "$@"'  # the kernel picks jostle, not the filler
        jostle = command("run", "plan.toml", "--no-pages")
        run = start(tmp_path, inside(group, "sh", "-c", first, "sh", *jostle))
        filler = start(tmp_path, inside(group, sys.executable, "filler.py"))
        try:
            recorded(tmp_path / "runs", 1)
            assert filler.stdin is not None
            assert filler.stdout is not None
            while run.poll() is None:
                filler.stdin.write("more\n")
                filler.stdin.flush()
                assert filler.stdout.readline() == "held\n"
        finally:
            for process in (run, filler):
                process.kill()
                process.communicate()
    assert run.returncode == -9
    (folder,) = (tmp_path / "runs").iterdir()
    assert "its journal just ends: jostle was killed" in RunRecord.open(folder).incomplete_why
    finished = jostle_command("run", "--resume", folder, "--json", "--no-pages")
    assert json.loads(finished.stdout)["complete"]


def start(folder: Path, words: list[str]) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen(
        words, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment()
    )
