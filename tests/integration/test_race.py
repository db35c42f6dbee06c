"""`jostle race starvation` and `jostle run` whole, on real servers; records that survive kill -9."""

import json
from pathlib import Path

from jostle.record.outcomes import ENDED_BY_STOP, Outcome
from support.real import SILENTLY, Jostle, as_json, jostle_running, recorded

PLAN = """
title = "Does one slow request starve the fast ones?"
contestants = ["reference-run-to-completion", "reference-processor-sharing"]
rounds = 3
seed = 5

[workload.alone]
request = { get = "/fast/44", expect = "1936" }
load = { clients = 1, for = "1s" }

[workload.with-slow]
request = { get = "/fast/44", expect = "1936" }
load = { clients = 1, for = "1s" }
background = { get = "/work?us=800000", clients = 1, requests = 1 }

[workload.slow]
request = { get = "/work?us=800000" }
load = { clients = 1, requests = 1 }

[[starvation]]
form = "as published"
title = "one closed client"
alone = "alone"
with = "with-slow"
slow = "slow"
"""


def written(tmp_path: Path, text: str = PLAN) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    return path


def only_run(folder: Path) -> Path:
    (run,) = (folder / "runs").iterdir()
    return run


def test_kill_9_in_the_middle_leaves_a_run_that_can_be_reported(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    plan = written(tmp_path, PLAN.replace('for = "1s"', 'for = "30s"'))
    with jostle_running("run", plan, cwd=tmp_path, **SILENTLY) as process:
        recorded(tmp_path / "runs")
        process.kill()
    result = json.loads(jostle_command("report", only_run(tmp_path), "--format", "json").stdout)
    assert not result["complete"]
    assert any(
        trial["status"] == "cut short" and trial["outcomes"].get("ok", 0) > 100 for trial in result["trials"]
    )
    page = jostle_command("report", only_run(tmp_path))
    assert page.returncode in (0, 3)
    assert "cut short" in (only_run(tmp_path) / "report.html").read_text()


def test_a_published_experiment_runs_with_its_published_figures(
    jostle_command: Jostle,
) -> None:
    finished = jostle_command(
        "race",
        "starvation",
        "--quick",
        "--rounds",
        "1",
        "--contestants",
        "node-express,reference-processor-sharing",
        *("--workloads", "fast-only,fast-with-slow,stream-only,stream-with-slow"),
        *("--set", "slow=37", "--set", "window=3s"),  # on a busy machine, too, it ends long before its window
        "--json",
        timeout=240,
    )
    result = as_json(finished)
    rows = {(row["contestant"], row["form"]): row for row in result["starvation"]}
    assert len(rows) == 4
    published = [row["published_alone"] for row in rows.values() if row["published_alone"]]
    assert [figure["value"] for figure in published] == [572]
    notes = [f["note"] for f in result["published"] if f["value"] == 589]
    assert any("no slow request was running" in note for note in notes)
    claims = {c["statement"]: c for c in result["claims"]}
    (criterion, *_) = claims["Node must fully complete the slow request before it can begin on a new one"][
        "criteria"
    ]
    assert criterion["estimate"]["value"] is not None, criterion["estimate"]["note"]
    assert criterion["estimate"]["value"] < 0.05
    (haskell,) = [c for name, c in claims.items() if name.startswith("Haskell, built as in the article")]
    assert haskell["sentence"] == "haskell-servant was not measured."


def test_unknown_names_offer_the_nearest(jostle_command: Jostle) -> None:
    for arguments, nearest in (
        (["race", "starvaton"], "starvation"),
        (["race", "starvation", "--contestants", "nod"], "node"),
        (["race", "starvation", "--contestants", "go:prcs=1"], "procs"),
        (["contestants", "verify", "pyton-asyncio"], "python-asyncio"),
    ):
        finished = jostle_command(*arguments)
        assert finished.returncode == 2, finished.stderr
        assert f"'{nearest}'" in finished.stderr
        assert "Traceback" not in finished.stderr


def test_a_broken_plan_is_pointed_at(jostle_command: Jostle, tmp_path: Path) -> None:
    finished = jostle_command("run", written(tmp_path, PLAN.replace("rounds = 3", "rounds = = 3")))
    assert finished.returncode == 2
    assert "line 4" in finished.stderr
    finished = jostle_command("run", tmp_path / "absent.toml")
    assert finished.returncode == 2
    assert "absent.toml" in finished.stderr


def test_a_folder_that_is_not_a_run_is_refused(jostle_command: Jostle, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        finished = jostle_command("report", folder)
        assert finished.returncode == 2
        assert str(folder) in finished.stderr
        assert "Traceback" not in finished.stderr


MINE = """
title = "mine"
contestants = ["mine"]
rounds = 1

[contestant.mine]
command = {command}
user = "root"
ready = {{ path = "/hello" }}

[workload.w]
request = {{ get = "/hello" }}
load = {{ clients = 2, for = "3s" }}
"""


def test_a_server_that_dies_at_start_shows_its_own_last_words(jostle_command: Jostle, tmp_path: Path) -> None:
    dies = json.dumps(["python3", "-c", "import sys; print('no such table: users'); sys.exit(3)"])
    finished = jostle_command("run", written(tmp_path, MINE.format(command=dies)), "--no-pages")
    assert finished.returncode == 3
    assert "no such table: users" in finished.stdout + finished.stderr


def test_a_server_that_dies_in_the_middle_is_an_invalid_trial(jostle_command: Jostle, tmp_path: Path) -> None:
    program = (
        "import http.server, os\n"
        "class H(http.server.BaseHTTPRequestHandler):\n"
        "    protocol_version = 'HTTP/1.1'\n"
        "    wbufsize = -1\n"  # head and body in one write
        "    answered = 0\n"
        "    def do_GET(self):\n"
        "        H.answered += 1\n"
        "        if H.answered > 100: print('out of memory', flush=True); os._exit(9)\n"
        "        self.send_response(200); self.send_header('Content-Length', '2')\n"
        "        self.end_headers(); self.wfile.write(b'ok')\n"
        "    def log_message(self, *a): pass\n"
        "http.server.ThreadingHTTPServer(('127.0.0.1', {port}), H).serve_forever()\n"
    )
    finished = jostle_command(
        "run", written(tmp_path, MINE.format(command=json.dumps(["python3", "-c", program]))), "--no-pages"
    )
    assert finished.returncode == 3
    assert "out of memory" in finished.stdout + finished.stderr
    assert "invalid" in finished.stdout


ORDERS = """
title = "orders"
contestants = ["node"]
rounds = 1

[database]
delay = "2ms"

[workload.orders]
request = { get = "/orders", expect = { contains = "<h1>" } }
load = { clients = 4, for = "1s" }
"""


def test_a_plan_brings_its_database_and_the_record_says_which(jostle_command: Jostle, tmp_path: Path) -> None:
    result = as_json(jostle_command("run", written(tmp_path, ORDERS), "--json", "--no-pages"))
    outcomes = result["trials"][0]["outcomes"]
    assert outcomes["ok"] > 0
    assert set(outcomes) <= {Outcome.OK} | ENDED_BY_STOP
    (trial,) = (only_run(tmp_path) / "trials").iterdir()
    database = json.loads((trial / "trial.json").read_text())["server"]["database"]
    assert (database["private"], database["delay_ms"], database["index"]) == (True, 2.0, True)
    assert (trial / "database.ndjson").stat().st_size > 0


WRITTEN_OUT = """
title = "Whose name is it?"
contestants = ["reference-workers:workers=2", "reference-null"]
rounds = 1

[workload.w]
contestants = ["reference-workers:workers=2"]
request = { get = "/" }
load = { clients = 1, for = "100ms" }

[workload.other]
contestants = ["reference-null"]
request = { get = "/" }
load = { clients = 1, for = "100ms" }

[[require]]
that = "p99 < 100 s"
contestant = "reference-workers:workers=2"
"""


def test_a_variant_at_its_default_is_measured_where_the_plan_spells_it_out(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    plan = written(tmp_path, WRITTEN_OUT)
    finished = jostle_command("run", plan, "--workloads", "w", "--into", tmp_path / "runs", "--no-pages")
    assert "skipped reference-null: none of the chosen workloads is measured on it" in finished.stderr
    result = as_json(jostle_command("report", only_run(tmp_path), "--format", "json"))
    assert [trial["contestant"] for trial in result["trials"]] == ["reference-workers"]
    assert [required["contestant"] for required in result["requirements"]] == ["reference-workers"]


def test_a_contestant_that_no_workload_is_measured_on_is_refused(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    plan = written(
        tmp_path, WRITTEN_OUT.replace('["reference-null"]\nrequest', '["reference-workers"]\nrequest')
    )
    finished = jostle_command("run", plan)
    assert finished.returncode == 2
    assert "no workload is measured on reference-null" in finished.stderr
