"""Secrets in texts, in what is sent, and in all that a run writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from jostle.cli.target import target_of
from jostle.errors import PlanError
from jostle.explain.run import target_of as explained
from jostle.plan import parse_plan
from jostle.plan.hit.plan import hit_plan
from jostle.record import RunRecord, RunWriter
from jostle.redaction.commands import redact_command
from jostle.redaction.data import redact, replace_secrets, secrets_in
from jostle.redaction.names import HIDDEN
from jostle.redaction.sent import redact_body, redact_request, redact_sent
from jostle.redaction.texts import redact_text
from jostle.url import read_url

S = "hunter2x"


@pytest.mark.parametrize(
    "text",
    [
        f"http://me:{S}@here/",
        f"'http://me:p@{S}@here/' is not a URL",
        f"http://me:{S}/a@here:80/",
        f"there is no folder 'https:/me:{S}@here/run'",
        f"https://{S}@hooks.example/x",
        f"https://{S}:@hooks.example/x",
        f"me:{S}@here:8080/x",
        f"/a?sv=1&sig={S}&b=1",
        f"/a?filter[token]={S}#x",
        f"/a?api%5Fkey={S}",
        f"Referer: http://here/?session={S}",
        f"https://here/?next=/a?token={S}",
        f"Authorization: Bearer {S}",
        f"no colon: 'Authorization Bearer {S}'",
        f"{{'Cookie': '{S}'}} and more",
        f'{{\\"password\\": \\"{S}\\"}}',
        f"os.environ['API_KEY']='{S}'",
        f'local password = "{S}"',
        f"AccountName=a;AccountKey={S};EndpointSuffix=core",
        f"eyJhbGciOiJIUzI1NiJ9.eyJ{S}.abc",
        f"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA{S}\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_a_text_shows_no_secret(text: str) -> None:
    assert S not in redact_text(text)
    assert HIDDEN in redact_text(text)
    assert redact_text(redact_text(text)) == redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://here:80/a@b",
        "http://127.0.0.1:{port}/a@b",
        "http://[::1]:80/a@b",
        "postgresql://me@here/shop",
        "http://me:{password}@here/?token={token}",
        "http://auth:8080/x and http://secret.example/a=b",
        "workload.w.request.headers.X-Api-Key: a header is one line",
        'journey.a.steps.1.capture.token: "jsn:/token" does not say what to keep',
        'connection.tls.key: "client.key" is missing',
        "Basic authentication is not supported",
        "line 4, column 5: expected a key",
        "mailto:me@here",
        "Bearer {token}",
        "p99 < 250 ms, errors < 1 %",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "a:" + " " * 200_000 + "b",
        "a=" + " " * 200_000 + "[b",
        "a://b:c" * 30_000,
        "http://a(" * 20_000,
        "a=" * 100_000,
        'a="' * 70_000,
        "-eyJaaaaaaaa" * 20_000,
    ],
    ids=["blanks", "blanks and a bracket", "schemes", "logins", "equals", "quotes", "web tokens"],
)
def test_a_long_text_is_read_about_once(text: str) -> None:
    """Read once for each of its places, each would take minutes."""
    assert redact_text(text) == text


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (
            f'{{"a": {{"password": "{S}", "n": 5}}, "pin": 1234, "max_tokens": 5}}',
            '{"a": {"password": "(hidden)", "n": 5}, "pin": "(hidden)", "max_tokens": 5}',
        ),
        (f'{{"credentials": {{"user": "{S}", "all": ["{S}"]}}}}', None),
        (f'{{"query": "mutation {{ login(password: \\"{S}\\") }}"}}', None),
        (f'{{"id": {{id}}, "password": "{S}"}}', HIDDEN),
        (f"user=me&pass={S}", "user=me&pass=(hidden)"),
        (f"<login><password>{S}</password></login>", HIDDEN),
        (f"AUTH {S}\r\n", HIDDEN),
        (f'--x\r\nContent-Disposition: form-data; name="pin"\r\n\r\n{S}\r\n--x--', HIDDEN),
        ('{"id": 1, "name":"keyboard"}', '{"id": 1, "name":"keyboard"}'),
        ('{"user":"{user}","pw":"{password}"}', '{"user":"{user}","pw":"{password}"}'),
        ("PING\r\n", "PING\r\n"),
    ],
)
def test_a_body_shows_no_secret(body: str, shown: str | None) -> None:
    assert S not in redact_body(body)
    assert shown is None or redact_body(body) == shown


def test_a_request_is_shown_without_its_secrets() -> None:
    sent = f"POST /a?sig={S} HTTP/1.1\r\nHost: here\r\nX-Api-Key: {S}\r\nCookie: a=b\r\n\r\nuser=me&otp={S}"
    assert redact_request(sent) == (
        "POST /a?sig=(hidden) HTTP/1.1\r\nHost: here\r\nX-Api-Key: (hidden)\r\nCookie: (hidden)\r\n\r\n"
        "user=me&otp=(hidden)"
    )
    assert redact_request("hello") == "hello"


def test_numbers_are_hidden_only_where_they_are_secrets() -> None:
    data = {"pin": 1234, "otp": 5.5, "code": 7, "sessions": 100, "max_keys": 5, "token": True, "key": None}
    assert redact_sent(data) == data | {"pin": HIDDEN, "otp": HIDDEN, "code": HIDDEN}


def test_names_that_users_choose_for_tables_are_not_names_of_values() -> None:
    plan = {
        "contestant": {"auth": {"url": "http://127.0.0.1:1"}},
        "workload": {"message": {"load": "x"}, "token": {"request": {"get": "/"}}},
        "journey": {"session": {"steps": [{"get": "/", "capture": {"token": "json:/token"}}]}},
        "connection": {"tls": {"key": "client.key"}},
    }
    assert redact(plan) == plan


def test_what_was_found_once_is_hidden_everywhere() -> None:
    data: dict[str, Any] = {
        "env": {"API_KEY": S, "PIN": "1234", "MODE": "fast"},
        "headers": {"Authorization": "Basic bWU6Z2VoZWlt", "X-Auth": f"Bearer {S}y"},
        "contestant": {"staging": {}},
        "parameters": {"token": "staging"},
    }
    found = secrets_in(data)
    assert found == {S, "Basic bWU6Z2VoZWlt", "bWU6Z2VoZWlt", "geheim", f"Bearer {S}y", f"{S}y"}
    assert replace_secrets(["x", {"y": f"<{S}y>", S: 1}], found) == ["x", {"y": f"<{HIDDEN}>", S: 1}]
    assert replace_secrets(data, ()) is data


def test_no_error_quotes_a_secret() -> None:
    error = PlanError(f"'http://me:{S}@h:x/' is not a URL", f"X-Api-Key: '{S}' has no colon")
    assert S not in f"{error} {error!r} {error.args} {error.message} {error.hint}"


def test_nothing_that_is_written_into_a_run_holds_its_secrets(tmp_path: Path) -> None:
    """What the server prints, why things failed, and the rest, although no name stands beside it."""
    writer = RunWriter.create(tmp_path, "x", "", {"jostle": "0", "argv": ["jostle", S]}, {S})
    writer.journal("run started", seed=1, base=S)
    writer.journal("trial planned", number=1, contestant="a", workload="w", round=1)
    made: Any = {
        "number": 1, "contestant": "a", "workload": "w", "round": 1,
        "server": {"label": "a", "command": ["./s", "--api-token", "geheim"], "url": f"http://h/?sig={S}"},
    }  # fmt: skip
    trial = writer.trial(made)
    series = {
        "workload": 0, "request": 0, "phase": 0, "histograms": {}, "outcomes": {"reset": 3},
        "failures": {"reset": {f"got {S}": 1, f"got {HIDDEN}": 2}},
    }  # fmt: skip
    trial.write_interval({"start_ns": 0, "end_ns": 10**9, "series": [series], "workloads": []})
    trial.finish("failed", f"it said {S}", f"my token is geheim, or {S}")
    writer.journal("trial failed", number=1, why=f"it said {S}")
    files = {path.name: path.read_text("latin-1") for path in writer.folder.rglob("*") if path.is_file()}
    assert not [name for name, text in files.items() if S in text or "geheim" in text]
    assert json.loads(files["outcome.json"])["server_output_tail"] == "my token is (hidden), or (hidden)"
    assert '"failures":{"reset":{"got (hidden)":3}}' in files["intervals.ndjson"]
    assert json.loads(files["trial.json"])["server"]["command"] == ["./s", "--api-token", HIDDEN]
    assert RunRecord.open(writer.folder).planned[0]["number"] == 1


@pytest.mark.parametrize(
    "login", [S, f"ann:{S}", f"ann@x.com:{S}", f"ann!x:{S}", f":{S}", f"TOK({S}", f"tok'{S}", f"o'n:{S}"]
)
@pytest.mark.parametrize("scheme", ["", "http://", "https://"])
def test_no_login_is_recorded_or_quoted(login: str, scheme: str) -> None:
    url = f"{scheme}{login}@h:8080/x"
    assert S not in f"{redact_command(['jostle', 'hit', url])}{redact_command(['curl', url])}"
    assert redact_command(["jostle", "hit", url])[2].endswith("@h:8080/x")
    if scheme:
        assert S not in redact_text(f"there is no folder {url!r}")
    for refuse in (
        lambda: read_url(f"{scheme}{login}@h:x/"),
        lambda: target_of([url, "http://h"], "hit"),
        lambda: hit_plan(f"{url}?a", {"urls": "/dev/null"}),
    ):
        with pytest.raises(PlanError) as raised:
            refuse()
        assert S not in str(raised.value)


@pytest.mark.parametrize(
    "words",
    [
        ["npx", "serve@14.2", "git@host.example"],
        ["jostle", "hit", "@curl.txt", "unix:@name", "--urls=a@b", "http://h/a@b", "http://{token}@h/"],
    ],
)
def test_an_at_sign_elsewhere_is_no_login(words: list[str]) -> None:
    assert redact_command(words) == words


def test_explain_and_the_list_of_a_plan_quote_no_login(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"\nh runs already"), explained(f"{S}@h", share_cores=True):
        pass
    (tmp_path / "urls.txt").write_text(f"{S}@h/a\n")
    text = 'title = "x"\ncontestants = ["node"]\n[workload.w]\nload = { clients = 1, for = "1s" }\n'
    with pytest.raises(PlanError, match=r"'h/a' is not a path") as raised:
        parse_plan(f'{text}request = {{ urls = "{tmp_path / "urls.txt"}" }}', "plan.toml")
    assert S not in str(raised.value)
