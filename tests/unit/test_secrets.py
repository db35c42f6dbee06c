"""No secret reaches a record: one rule for the plan, the command line and what the engine was given."""

import json
from pathlib import Path

import pytest

from jostle.errors import NotARun
from jostle.generator.spec.address import Address
from jostle.generator.spec.recorded import without_secrets
from jostle.generator.spec.run import engine_spec
from jostle.host.facts import host_facts
from jostle.plan import Plan, parse_plan, to_toml
from jostle.plan.hit.plan import hit_plan
from jostle.record import RunRecord, RunWriter
from jostle.redaction.commands import redact_command
from jostle.redaction.data import redact
from jostle.redaction.names import HIDDEN, names_a_secret
from jostle.runner.resume import unfinished

S = "hunter2"

PLAN = f"""
title = "x"
contestants = ["mine"]

[parameters]
api_token = "{S}"
size = 5

[contestant.mine.start]
command = "./server --port {{port}}"
env = {{ API_KEY = "{S}", DATABASE_URL = "postgresql://me:{S}@db/shop", MODE = "fast" }}

[contestant.mine.build]
env = {{ NPM_TOKEN = "{S}" }}

[workload.w]
load = {{ clients = 1, for = "1s" }}

[[workload.w.request]]
get = "/a?access_token={S}&size={{size}}"
headers = {{ Authorization = ["Bearer {S}", "Basic {S}"], Accept = "*/*", X-Custom = "{{api_token}}" }}

[[workload.w.request]]
post = "/login"
body = '{{"user": "me", "password": "{S}"}}'

[[workload.w.request]]
get = "/user/{{session}}"
params = {{ session = ["{S}", "{S}2"] }}

[workload.w.background]
get = "/b"
clients = 1
headers = {{ Cookie = "id={S}" }}
"""


def recorded_spec(plan: Plan) -> str:
    [workload] = plan.workload.values()
    spec = engine_spec("w", workload, Address(host="127.0.0.1", port=80))
    assert S in json.dumps(spec)
    return json.dumps(without_secrets(spec))


def test_a_recorded_plan_has_no_secret_and_can_still_be_read() -> None:
    plan = parse_plan(PLAN, "plan.toml")
    assert to_toml(plan, secrets=True).count(S) > 8
    text = to_toml(plan)
    assert S not in text
    again = parse_plan(text, "record")
    first, login, user = again.workload["w"].request
    assert first.path == "/a?access_token=(hidden)&size=5"
    assert first.headers == {"Authorization": [HIDDEN, HIDDEN], "Accept": "*/*", "X-Custom": HIDDEN}
    assert (login.body, user.params["session"].values) == (
        '{"user": "me", "password": "(hidden)"}',
        (HIDDEN, HIDDEN),
    )
    assert again.contestant["mine"].start_env() == {
        "API_KEY": HIDDEN,
        "DATABASE_URL": "postgresql://me:(hidden)@db/shop",
        "MODE": "fast",
    }


def test_what_the_engine_was_given_is_recorded_without_secrets() -> None:
    text = PLAN.replace('X-Custom = "{api_token}"', "X-Custom = 'x'")
    recorded = recorded_spec(parse_plan(text, "plan.toml"))
    assert S not in recorded
    assert "*/*" in recorded
    assert "/a?access_token=(hidden)&size=5" in recorded


def test_a_file_that_is_sent_is_judged_by_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(f'{{"client_secret": "{S}"}}')
    plan = hit_plan("http://127.0.0.1:1/", {"body": f"@{tmp_path / 'body.json'}"})
    spec = engine_spec("hit", plan.workload["hit"], Address(host="127.0.0.1", port=1))
    assert spec["workloads"][0]["requests"][0]["body_base64"]
    assert not without_secrets(spec)["workloads"][0]["requests"][0]["body_base64"]


@pytest.mark.parametrize("message", [f'"password={S}"', f'{{ password = "{S}", user = "me" }}'])
def test_a_message_is_recorded_without_secrets(message: str) -> None:
    head = 'title = "x"\ncontestants = ["node"]\n[workload.w]\nload = { clients = 1, for = "1s" }\n'
    plan = parse_plan(f'{head}request = {{ ws = "/", send = {message} }}', "plan.toml")
    recorded = to_toml(plan)
    assert S not in recorded
    assert parse_plan(recorded, "record").workload["w"].request[0].ws == "/"
    spec = engine_spec("w", plan.workload["w"], Address(host="127.0.0.1", port=80))
    assert spec["workloads"][0]["requests"][0]["body_base64"]
    assert not without_secrets(spec)["workloads"][0]["requests"][0]["body_base64"]


@pytest.mark.parametrize(
    ("words", "record"),
    [
        (["-H", f"Authorization: Bearer {S}"], ["-H", "Authorization: (hidden)"]),
        ([f"-HX-Api-Key:{S}"], ["-HX-Api-Key:(hidden)"]),
        (["-kH", f"Cookie: id={S}"], ["-kH", "Cookie: (hidden)"]),
        (["--header", f"X-Token: {S}"], ["--header", "X-Token: (hidden)"]),
        ([f"--header=X-Token: {S}"], ["--header=X-Token: (hidden)"]),
        (["-H", "Accept: text/html"], ["-H", "Accept: text/html"]),
        (["-H", f"Referer: http://x/?session={S}"], ["-H", "Referer: http://x/?session=(hidden)"]),
        (["-b", f'{{"password": "{S}"}}'], ["-b", '{"password": "(hidden)"}']),
        (["-b", f'{{"id": {{id}}, "password": "{S}"}}'], ["-b", "(hidden)"]),
        ([f"--body=pwd={S}"], ["--body=pwd=(hidden)"]),
        (["--send", f'{{"token": "{S}"}}'], ["--send", '{"token": "(hidden)"}']),
        (["-u", f"me:{S}"], ["-u", "me:(hidden)"]),
        ([f"-ume:{S}", "--user", f"me:{S}"], ["-ume:(hidden)", "--user", "me:(hidden)"]),
        (["--cookie", f"id={S}"], ["--cookie", "(hidden)"]),
        (["--json", f'{{"pin":"{S}"}}'], ["--json", '{"pin": "(hidden)"}']),
        (["--json-body", f'{{"otp":"{S}"}}'], ["--json-body", '{"otp": "(hidden)"}']),
        ([f"curl 'http://h/?sig={S}' -u me:{S}"], ["curl 'http://h/?sig=(hidden)' -u 'me:(hidden)'"]),
        (["-d", f"otp={S}&a=1", "-F", f"key={S}"], ["-d", "otp=(hidden)&a=1", "-F", "key=(hidden)"]),
        (["-d", "5s", "-b", "text", "-u", "server.py"],) * 2,
        ([f"--db-pass={S}", "-Dapi.key=" + S], ["--db-pass=(hidden)", "-Dapi.key=(hidden)"]),
        (["sh", "-c", f"A_KEY={S} ./x --pw {S}"], ["sh", "-c", "'A_KEY=(hidden)' ./x --pw '(hidden)'"]),
        (["--no-auth", "server.js", "--auth", "--port", "80"],) * 2,
        (["jostle", "hit", "--key", "client.pem", "--cert", "c.pem"],) * 2,
        (["./server", "--key", S], ["./server", "--key", "(hidden)"]),
        (["hit", f"me:{S}@localhost:80/"], ["hit", "me:(hidden)@localhost:80/"]),
        (["-b", '{"id": 1}'], ["-b", '{"id": 1}']),
        (["--set", f"db_password={S}"], ["--set", "db_password=(hidden)"]),
        ([f"--set=token={S}"], ["--set=token=(hidden)"]),
        (["--set", "slow=41"], ["--set", "slow=41"]),
        ([f"--database=postgresql://me:{S}@db/x"], ["--database=postgresql://me:(hidden)@db/x"]),
        ([f"http://me:{S}@localhost/?a=1&token={S}"], ["http://me:(hidden)@localhost/?a=1&token=(hidden)"]),
        (["x", "--api-key", S, f"--token={S}"], ["x", "--api-key", "(hidden)", "--token=(hidden)"]),
        (["hit", "http://localhost/?author=me", "-c", "5", "-n", "9"],) * 2,
        (["-H"], ["-H"]),
        ([], []),
    ],
)  # fmt: skip
def test_a_command_line_is_recorded_without_secrets(words: list[str], record: list[str]) -> None:
    assert redact_command(words) == record


def test_what_is_no_text_or_no_secret_stays_as_it_is() -> None:
    data = {
        "tokens": 5,
        "token": True,
        "sessions": {"a": 1},
        "cookie": [1, None],
        "title": "author",
        "x": None,
    }
    assert redact(data) == data


@pytest.mark.parametrize(
    "name", ["Authorization", "X-Auth", "Set-Cookie", "apiKey", "DB_PASSWORD", "authority"]
)
def test_names_of_secrets(name: str) -> None:
    assert names_a_secret(name) is (name != "authority")


def test_a_run_that_had_secrets_cannot_go_on(tmp_path: Path) -> None:
    plan = parse_plan(PLAN, "plan.toml")
    writer = RunWriter.create(tmp_path, "x", to_toml(plan), {"seed": 1})
    writer.journal("run started", seed=1, contestants=["mine"])
    writer.journal("trial planned", number=1, contestant="mine", workload="w", round=1)
    writer.journal("trial started", number=1)
    assert S not in RunRecord.open(writer.folder).plan_text
    with pytest.raises(NotARun, match="the secrets of its plan are not kept"):
        unfinished(writer.folder)


def test_of_a_pasted_curl_command_login_cookies_and_secret_values_are_hidden() -> None:
    words = [
        "jostle",
        "hit",
        "-c",
        "5",
        "--",
        "curl",
        "http://h/",
        "-u",
        "ann:pw",
        "-b",
        "a=b",
        "-sbc=d",
        "--cookie",
        "e",
    ]
    assert redact_command(words) == [
        *("jostle", "hit", "-c", "5", "--", "curl", "http://h/"),
        *("-u", "ann:(hidden)", "-b", "(hidden)", "-sb(hidden)", "--cookie", "(hidden)"),
    ]
    (text,) = redact_command(["curl http://h/ \\\n -b 'a=b' -d 'password=x&y=z'"])
    assert text.split()[-4:] == ["-b", "'(hidden)'", "-d", "'password=(hidden)&y=z'"]
    assert redact_command(["curl -u 'ann:pw"]) == ["(hidden)"]  # a quote that nobody closes
    assert redact_command(["jostle", "hit", "-b", "a=b"]) == ["jostle", "hit", "-b", "a=b"]
    assert redact_command(["--json-body", '{"token":"x"}']) == ["--json-body", '{"token": "(hidden)"}']


def test_a_body_in_hexadecimal_is_looked_through() -> None:
    assert redact({"body-hex": b"\xffa=b".hex()}) == {"body-hex": "ff613d62"}
    assert redact({"body-hex": b"\xff password=x".hex()}) == {"body-hex": b"(hidden)".hex()}


def test_a_runs_facts_name_the_file_of_a_key_and_no_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["jostle", "hit", f"{S}@h:80/", "--key", "client.pem"])
    assert host_facts(1)["argv"] == ["jostle", "hit", "(hidden)@h:80/", "--key", "client.pem"]
