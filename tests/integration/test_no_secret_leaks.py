"""Runs full of credentials, in every place where one may stand: nothing that they write or print has any."""

import getpass
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from support.handlers import Handler, serving
from support.real import Jostle

MARK = "geheim"
"""Every credential contains it, and nothing else does."""

QUERY = [
    *("sig", "key", "code", "jwt", "sas", "assertion", "client_assertion", "pass", "pw", "passphrase"),
    *("SAMLResponse", "hmac", "otp", "subscription-key", "appkey", "license_key", "bearer", "ticket"),
    *("access_token", "X-Amz-Signature", "api%5Fkey", "user[password]", "pin", "sid", "_csrf", "authCode"),
]
HEADERS = [
    *("Authorization", "Cookie", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "DD-APPLICATION-KEY"),
    *("X-Master-Key", "aeg-sas-key", "x-amz-server-side-encryption-customer-key", "X-JWT-Assertion"),
    *("X-Account-Key", "X-Api-Sig", "X-WSSE", "DPoP", "Proxy-Authorization", "X-Pass", "X-CSRF-Token"),
]
ENVIRONMENT = ["API_KEY", "PGPASSWORD", "SENTRY_DSN", "SMTP_PASS", "SESSION_SECRET", "AWS_ACCESS_KEY_ID"]

SERVER = f"""
import http.server, os, sys
print(sys.argv, {{name: os.environ[name] for name in {ENVIRONMENT!r}}}, flush=True)
if "--dies" in sys.argv:
    sys.exit("cannot log in with " + sys.argv[sys.argv.index("--api-token") + 1])

class Responses(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.send_response(302 if "login" in self.path else 200)
        self.send_header("Set-Cookie", "session={MARK}cookie")
        self.send_header("Location", "http://127.0.0.2/?code={MARK}location")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{{}}")
    do_POST = do_GET
    def log_message(self, *words):
        print(*words, flush=True)

port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.ThreadingHTTPServer(("127.0.0.1", port), Responses).serve_forever()
"""


def secret(name: str) -> str:
    return MARK + re.sub(r"\W", "", name).lower()


def table(names: list[str]) -> str:
    return "{ " + ", ".join(f'"{name}" = "{secret(name)}"' for name in names) + " }"


def plan(folder: Path) -> Path:
    """A plan with a contestant that runs and one that dies, and credentials everywhere."""
    (folder / "server.py").write_text(SERVER, encoding="utf-8")
    (folder / "users.csv").write_text(f"user,password\nann,{MARK}feed\n", encoding="utf-8")
    (folder / "users.jsonl").write_text(f'{{"apiKey": "{MARK}jsonl"}}\n', encoding="utf-8")
    (folder / "buy.luau").write_text(
        f'local password = "{MARK}script"\nreturn function() http.get("/script") end', encoding="utf-8"
    )
    (folder / "log-in.hurl").write_text(
        f"POST {{{{base_url}}}}/hurl?token={MARK}hurlquery\nX-Api-Key: {MARK}hurlheader\n[Form]\n"
        f"password: {MARK}hurlform\nHTTP 200\n",
        encoding="utf-8",
    )
    (folder / "body.json").write_text(f'{{"client_secret": "{MARK}file"}}', encoding="utf-8")
    query = "&".join(f"{name}={secret(name)}" for name in QUERY)
    command = (
        f"{sys.executable} server.py --port {{port}} --api-token {MARK}option --password={MARK}equals "
        f"-u me:{MARK}user -H 'X-Key: {MARK}header' --db postgresql://me:{MARK}url@db/shop "
        f'--json \'{{"pin": "{MARK}json"}}\' PASSWORD={MARK}assigned --webhook https://{MARK}login@hooks/x'
    )
    text = f"""
title = "Is http://me:{MARK}title@here/?sig={MARK}titlesig fast?"
about = 'with X-Api-Key: "{MARK}about"'
contestants = ["mine", "dying"]
rounds = 1
repeats = false

[parameters]
api_token = "{MARK}parameter"
db_pass = "{MARK}set"
user_pin = 4839205761

[contestant.mine]
folder = "."
user = "{getpass.getuser()}"
start.command = {json.dumps(command)}
start.env = {table(ENVIRONMENT)}
build.env = {{ NPM_TOKEN = "{MARK}build" }}
build.commands = ["true --registry-password {MARK}buildcommand"]

[contestant.dying]
folder = "."
user = "{getpass.getuser()}"
start.command = {json.dumps(command + " --dies")}
start.env = {table(ENVIRONMENT)}

[workload.w]
load = {{ clients = 1, for = "300ms" }}
rows = true
background = {{ get = "/b?token={MARK}background", clients = 1, headers = {{ Cookie = "id={MARK}beside" }} }}

[[workload.w.request]]
get = "/a?{query}"
headers = {table(HEADERS)}

[[workload.w.request]]
get = "/login?ticket={{ticket}}"
params = {{ ticket = ["{MARK}choice", "{MARK}choice2"] }}
headers = {{ X-Custom = "{{api_token}}", X-Other = "eyJhbGciOiJIUzI1NiJ9.eyJ{MARK}.abc" }}

[[workload.w.request]]
post = "/json"
body = '{{"user": "me", "card": {{"pin": "{MARK}body"}}, "credentials": ["{MARK}list"]}}'
expect = '{{"token": "{MARK}expected"}}'

[[workload.w.request]]
post = "/xml"
body = '<login><password>{MARK}xml</password></login>'
expect.contains = "passphrase={MARK}contains"

[[workload.w.request]]
get = "/user/{{user}}"
params = {{ user = {{ csv = "users.csv", column = "password" }} }}

[[workload.w.request]]
post = "/file"
body-file = "body.json"

[workload.steps]
load = {{ clients = 1, iterations = 2 }}
journeys = ["log-in", "scripted", "hurl"]

[journey.log-in]
feed = [{{ csv = "users.csv" }}, {{ jsonl = "users.jsonl" }}]
steps = [
  {{ post = "/form?user={{user}}", form = {{ name = "{{user}}", pass = "{MARK}form", k = "{{apiKey}}" }} }},
  {{ post = "/json2", json = {{ otp = "{MARK}jsonstep", mfa = 9182736455, p = "{{password}}" }} }},
  {{ get = "/next", headers = {{ Authorization = "Bearer {MARK}step" }}, capture.c = "header:Location" }},
]

[journey.scripted]
script = "buy.luau"

[journey.hurl]
hurl = "log-in.hurl"

[workload.sockets]
load = {{ clients = 1, requests = 2 }}
timeout = "300ms"
request.ws = "/chat?sas={MARK}socket"
request.send = {{ auth = "{MARK}send" }}
request.headers = {{ X-Sig = "{MARK}upgrade" }}

[workload.bytes]
load = {{ clients = 1, requests = 2 }}
timeout = "300ms"
request = {{ tcp = "AUTH {MARK}raw\\r\\n", until = "\\r\\n" }}

[workload.calls]
load = {{ clients = 1, requests = 2 }}
timeout = "300ms"
request.grpc = "a.B/C"
request.message = {{ api_key = "{MARK}message" }}
request.metadata = {{ x-token = "{MARK}metadata" }}
"""
    file = folder / "plan.toml"
    file.write_text(text, encoding="utf-8")
    return file


def content(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file below a folder as text; files of rows as their names."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".npz":
            yield path, str({name: array.tolist() for name, array in np.load(path).items()})
        elif path.is_file():
            yield path, path.read_bytes().decode("utf-8", "replace")


def assert_clean(name: object, text: str) -> None:
    found = re.search(rf"[^\n]{{0,80}}(?i:{MARK})[^\n]{{0,40}}", text)
    assert found is None, f"{name}: {found and found[0]!r}"


def test_nothing_of_a_run_has_a_secret(jostle_command: Jostle, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    file = plan(given)
    assert len(set(re.findall(rf"{MARK}\w+", file.read_text()))) >= 40
    runs = tmp_path / "runs"
    said = [
        jostle_command("check", file, "--no-send"),
        jostle_command(
            *("run", file, "--share-cores", "--into", runs, "--set", f"db_pass={MARK}typed", "--seed", "1")
        ),
    ]
    (run,) = runs.glob("*-plan")
    trials = {path.name for path in (run / "trials").iterdir()}
    assert {name.partition("-")[2] for name in trials} >= {"mine-w", "mine-steps"}, said[-1].stderr
    outcomes = [json.loads(path.read_text()) for path in run.glob("trials/*-mine-w/outcome.json")]
    assert [outcome["status"] for outcome in outcomes] == ["ended"], outcomes
    for form in ("json", "csv", "md", "html", "junit"):
        said.append(jostle_command("report", run, "--format", form))
    said += [
        jostle_command("report", run, "-o", tmp_path / "page.html"),
        jostle_command("report", run, "--full"),
        jostle_command("history", runs),
        jostle_command("run", "--resume", run),
    ]
    assert "(hidden)" in said[2].stdout
    for finished in said:
        assert "Traceback" not in finished.stderr, finished.stderr
        assert_clean(finished.args[3:], finished.stdout + finished.stderr)
    for path, text in [*content(runs), *content(tmp_path)]:
        if given not in path.parents:
            assert_clean(path, text)
    recorded = "".join(text for _, text in content(runs))
    assert "4839205761" not in recorded
    assert "9182736455" not in recorded


class Anything(Handler):
    def do_GET(self) -> None:
        self.response(200, '{"token": "' + MARK + 'response"}', {"Set-Cookie": f"session={MARK}cookie"})

    def do_POST(self) -> None:
        self.body()
        self.do_GET()


@pytest.fixture
def anything() -> Iterator[str]:
    with serving(Anything) as url:
        yield url


@pytest.mark.parametrize(
    "words",
    [
        ["hit", "http://me:geheimlogin@{host}/?sig=geheimsig&key=geheimkey#x"],
        ["hit", "me:geheimlogin@{host}/?code=geheimcode"],
        ["hit", "{url}", "-H", "X-Functions-Key: geheimheader", "-H", "Cookie: a=geheimcookie"],
        ["hit", "{url}", "-b", '{{"password": "geheimbody", "pin": "geheimpin"}}'],
        ["hit", "{url}", "--data", "user=me&pw=geheimform"],
        ["capacity", "{url}?subscription-key=geheimquery", "--slo", "p99 < 1 s", "--budget", "3s"],
    ],
)
def test_nothing_of_a_command_has_a_secret(
    jostle_command: Jostle, anything: str, tmp_path: Path, words: list[str]
) -> None:
    host = anything.removeprefix("http://")
    filled = [word.format(url=f"{anything}/", host=host) for word in words]
    ending = ["-n", "20", "--into", "runs"] if words[0] == "hit" else ["--into", "runs"]
    finished = jostle_command(*filled, *ending)
    assert finished.returncode in (0, 1, 3, 4), finished.stderr
    (run,) = (tmp_path / "runs").iterdir()
    shown = jostle_command("report", run, "--full")
    page = jostle_command("report", run, "-o", tmp_path / "page.html")
    for name, output in (("run", finished), ("report", shown), ("page", page)):
        assert_clean(name, output.stdout + output.stderr)
    for path, text in content(tmp_path):
        assert_clean(path, text)
    assert "(hidden)" in (run / "host.json").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["hit", "http://me:geheim1@here:99999/"],
        ["hit", "http://me:gehe/im1geheim2@here/"],
        ["hit", "me:geheim1@here:x/"],
        ["hit", "http://127.0.0.1:1/?token=geheim1", "--cert", "no.pem"],
        ["hit", "http://127.0.0.1:1/", "-H", "Authorization Bearer geheim1x"],
        ["hit", "http://127.0.0.1:1/", "-H", "X-Api-Key: geheim1\nX: y"],
        ["hit", "ftp://me:geheim1@here/"],
        ["hit", "grpc://127.0.0.1:1/a.B/C", "--message", '{"password": "geheim1"'],
        ["hit", "http://127.0.0.1:1/?api_key=geheim1", "-n", "2"],
        ["run", "none.toml", "--database", "postgresql://me:geheim1@here:99999/x"],
        ["explain", "http://me:geheim1@127.0.0.1:1/?token=geheim2"],
        ["capacity", "http://me:geheim1@127.0.0.1:1/?token=geheim2", "--slo", "p99 < 1 s"],
        ["check", "broken.toml"],
        ["check", "wrong.toml"],
        ["what-if", "http://me:geheim1@here/"],
        ["compare", "a?token=geheim1", "b"],
        ["report", "https://me:geheim1@here/run"],
    ],
)
def test_no_message_of_a_mistake_has_a_secret(
    jostle_command: Jostle, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "broken.toml").write_text(f'title = "t"\napi_key = "{MARK}" "\n', encoding="utf-8")
    (tmp_path / "wrong.toml").write_text(
        f'title = "t"\ncontestants = ["a"]\n[contestant.a]\nurl = "http://me:{MARK}1@h/x?token={MARK}2"\n'
        f"[workload.w]\nload = {{ clients = 1, for = '1s' }}\n"
        f"request = {{ get = '/ ?token={MARK}3', headers = {{ Authorization = ['Bearer {MARK}4', 5] }} }}\n",
        encoding="utf-8",
    )
    finished = jostle_command(*words)
    assert finished.returncode in (1, 2, 3), finished.stdout
    assert "Traceback" not in finished.stderr, finished.stderr
    assert_clean(words, finished.stdout + finished.stderr)
