"""What a real run leaves on disk: of the published form, without secrets, and safe to report on."""

import base64
import getpass
import json
import shutil
from pathlib import Path

from check_run import violations
from support.real import REFERENCE, Jostle, reference_server

OLD = Path(__file__).parents[1] / "data" / "run-format-1"

PLAN = """\
title = "Secrets"
contestants = ["mine"]
rounds = 1
warm-up = "0s"
[contestant.mine]
user = "{user}"
[contestant.mine.start]
command = ["{reference}", "run-to-completion", "--port", "{{port}}"]
env = {{ API_KEY = "canary-1", DATABASE_URL = "postgresql://me:canary-2@127.0.0.1/shop" }}
[workload.w]
rows = true
request = {{ post = "/hello", headers = {{ Authorization = "Bearer canary-3" }}, body = "x" }}
load = {{ clients = 2, for = "1s" }}
background = {{ get = "/hello", clients = 1, headers = {{ Cookie = "session=canary-4" }} }}
"""


def holding(folder: Path, secret: str) -> list[str]:
    """The files in which it stands, as it is or in base64."""
    forms = [secret.encode(), *(whole_groups(secret.encode()[cut:]) for cut in range(3))]
    return [
        str(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(form in path.read_bytes() for form in forms)
    ]


def whole_groups(text: bytes) -> bytes:
    """Its base64, as far as what comes after it changes nothing."""
    return base64.b64encode(text[: len(text) // 3 * 3])


def test_a_run_is_of_the_published_form_and_keeps_no_secret_of_its_plan(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    (tmp_path / "plan.toml").write_text(PLAN.format(reference=REFERENCE, user=getpass.getuser()))
    done = jostle_command("run", "plan.toml", "--into", "runs")
    (folder,) = (tmp_path / "runs").iterdir()
    assert list(violations(folder)) == []
    assert len(list(folder.glob("trials/*/requests-*.npz"))) >= 1, done.stdout + done.stderr
    for number in (1, 2, 3, 4):
        assert holding(folder, f"canary-{number}") == []
        assert f"canary-{number}" not in done.stdout + done.stderr


def test_the_command_line_of_a_hit_leaves_no_secret_anywhere(jostle_command: Jostle, tmp_path: Path) -> None:
    lines = ("Authorization: Bearer canary-1", "X-Api-Key: canary-2", "Cookie: a=canary-3")
    headers = [word for line in lines for word in ("-H", line)]
    with reference_server("run-to-completion") as url:
        done = jostle_command(
            "hit", f"{url}/hello?password=canary-4", *headers, "-n", "20", "--into", tmp_path / "runs"
        )
    (folder,) = (tmp_path / "runs").iterdir()
    told = done.stdout + done.stderr
    for form in ("html", "json", "md", "csv", "junit"):
        shown = jostle_command("report", folder, "--format", form)
        assert shown.returncode == 0, shown.stderr
        told += shown.stdout
    jostle_command("report", folder)
    assert (folder / "report.html").exists()
    for number in (1, 2, 3, 4):
        assert holding(folder, f"canary-{number}") == []
        assert f"canary-{number}" not in told


def test_the_secrets_of_an_old_run_are_hidden_when_it_is_reported(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(OLD, folder)
    host = json.loads((folder / "host.json").read_text())
    host["argv"] = ["jostle", "hit", "http://127.0.0.1:1/", "-H", "Authorization: Bearer canary-1"]
    (folder / "host.json").write_text(json.dumps(host))
    for form in ("html", "json", "md"):
        shown = jostle_command("report", folder, "--format", form)
        assert shown.returncode == 0, shown.stderr
        assert "(hidden)" in shown.stdout
        assert "canary-1" not in shown.stdout


def test_a_report_on_a_strangers_run_writes_through_no_link(jostle_command: Jostle, tmp_path: Path) -> None:
    folder, victim = tmp_path / "runs" / "run", tmp_path / "victim"
    shutil.copytree(OLD, folder)
    victim.write_text("precious")
    for name in ("report.html", "report.html.part", "throughput.png", "density.svg", "strips.png"):
        (folder / name).symlink_to(victim)
    (tmp_path / "runs" / "index.ndjson").symlink_to(victim)
    (tmp_path / "runs" / "index.ndjson.part").symlink_to(victim)
    commands = (["report", folder], ["report", folder, "--format", "png"], ["history", folder.parent])
    for arguments in commands:
        done = jostle_command(*arguments)
        assert "Traceback" not in done.stderr
    assert victim.read_text() == "precious"
    assert not (folder / "report.html").is_symlink()
