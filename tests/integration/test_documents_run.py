"""What the tutorial and the how-to pages tell a reader to type does what they say, on loopback, in short."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import run_command
from support.handlers import Handler, serving
from support.real import reference_server

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    DOCS / "TUTORIAL.md",
    *sorted(DOCS.glob("how-to/*.md")),
    DOCS / "reference" / "json.md",
    DOCS / "reference" / "python.md",
]

STALL = """
title = "Who notices a slow request?"
contestants = ["reference-run-to-completion", "reference-processor-sharing"]
rounds = 3
workload.w.request = { get = "/fast/44", expect = "1936" }
workload.w.load = { clients = 1, for = "1s" }
"""
COMMIT = "git init -q -b main . && git -c user.name=t -c user.email=t@t commit -q --allow-empty -m 1"
BEFORE = {
    "publish": [("toml", f"# stall.toml\n{STALL}"), ("sh", "jostle run stall.toml")],
    "github-actions": [("sh", COMMIT)],
}
"""What a page takes for granted."""

QUICKER = {"run": ["--no-pages"]}

NOT_RUN = {
    "jostle contestants start": "it serves until Ctrl-C; the test starts the same server",
    "jostle doctor": "it asks every runtime; test_doctor.py and test_calibration.py run it",
    "jostle contestants verify": "tests/contract runs it for every contestant",
    "jostle run plan.toml --rounds 10": "ten rounds of the tutorial's plan",
    "jostle hit http://localhost:8000/v1/chat": "it needs a model; test_streams.py has its options",
    "jostle hit https://localhost:8443/ --http2": "it needs a certificate; test_http2.py makes one",
    "jostle hit udp://127.0.0.1:53": "it needs a DNS server; test_datagrams.py has one",
    "jostle hit tcp://127.0.0.1:6379": "it needs Redis; test_raw.py has one",
    "jostle hit - <": "it reads what is pasted; test_curl.py does that",
    "make wheel": "test_wheel.py builds and installs it",
    "docker": "it needs a daemon and an image from a registry",
    "pipx install": "it needs the network",
    "sudo sysctl": "it needs root and changes the machine",
    "mkdir -p runs && sudo chown": "it needs sudo",
}
"""Commands that are shown and not run here, by how they begin; that jostle's can be typed is a unit test."""

FENCED = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(?:#|--|//) (\S+\.(?:toml|luau|proto|txt))\n")
SHORTER = [
    (re.compile(r"-d \d+s"), "-d 200ms"),
    (re.compile(r'for = "\d+s"'), 'for = "200ms"'),
    (re.compile(r"rounds = \d+"), "rounds = 1\nrepeats = false"),
    (re.compile(r'warm-up = "\w+"'), 'warm-up = "0s"'),
    (re.compile(r"us=500000"), "us=50000"),
    (re.compile(r"--quick$", re.MULTILINE), "--quick --budget 3s"),
]
DONE = {0, 3, 4}
"""Exit codes of what was done, if only for an instant: nobody can trust or decide much of 200 ms."""


class Api(Handler):
    """Takes an order from whoever has the token."""

    def do_POST(self) -> None:
        body = self.body()
        known = self.headers["Authorization"] == "Bearer secret" and "Ada" in body
        self.response(201 if known else 401)


class Shop(Handler):
    """Whoever logs in gets a token, and sees everything with it."""

    def do_POST(self) -> None:
        self.body()
        self.response(200, headers={"X-Token": "secret"})

    def do_GET(self) -> None:
        known = (
            self.path == "/" or self.path.startswith("/items/") or self.headers["Authorization"] == "secret"
        )
        self.response(200 if known else 401)


@pytest.fixture(scope="module")
def ports() -> Iterator[dict[str, str]]:
    """What stands for the ports of the documents: reference servers, an API for orders, and a shop."""
    with (
        serving(Api) as api,
        serving(Shop) as shop,
        reference_server("run-to-completion") as url,
        reference_server("events") as events,
        reference_server("websocket") as sockets,
        reference_server("lines") as lines,
        reference_server("grpc") as calls,
        reference_server("datagrams") as datagrams,
    ):
        of = {
            **{"8080": url, "8000": events, "8001": sockets, "8002": lines},
            **{"8003": datagrams, "8004": calls, "9000": api, "9001": shop},
        }
        yield {port: url.rstrip("/").rsplit(":", 1)[1] for port, url in of.items()}


def adapted(text: str, ports: dict[str, str]) -> str:
    """Shorter, and at the ports of this test."""
    for pattern, short in SHORTER:
        text = pattern.sub(short, text)
    return re.sub(r"(?<=127\.0\.0\.1:)(\d+)", lambda found: ports.get(found[1], found[1]), text)


def skipped(line: str) -> bool:
    return any(line.startswith(start) for start in NOT_RUN)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_tells_to_type_works(
    page: Path, ports: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOKEN", "secret")
    told = [*BEFORE.get(page.stem, []), *FENCED.findall(page.read_text(encoding="utf-8"))]
    for language, block in told:
        text = adapted(re.sub(r"^ {2,3}(?=\S)", "", block, flags=re.MULTILINE), ports)
        if language in ("toml", "lua", "proto", "text") and (name := FILE.match(text)):
            Path(name[1]).parent.mkdir(exist_ok=True)
            Path(name[1]).write_text(text, encoding="utf-8")
        elif language == "python":
            exec(compile(text, page.name, "exec"), {})
        elif language == "sh":
            for line in filter(None, text.splitlines()):
                if not any(line.startswith(start) for start in NOT_RUN):
                    typed(line)


def typed(line: str) -> None:
    """As a shell would: jostle in this process, which saves its imports; anything else in bash."""
    if not line.startswith("jostle "):
        subprocess.run(["bash", "-c", line], check=True, timeout=60)
        return
    words = subprocess.check_output(["bash", "-c", f"printf '%s\\0' {line}"], text=True).split("\0")[1:-1]
    name, *given = words
    code, said = run_command(name, *given, *QUICKER.get(name, []))
    assert code in DONE, f"{line}\n{said}"


def test_the_reference_servers_of_the_pages_are_a_command() -> None:
    program = Path(sys.executable).with_name("jostle-reference")
    with subprocess.Popen([program, "null", "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        said = server.stdout.readline()
        server.terminate()
    assert said.startswith("listening on 127.0.0.1:")


def test_what_is_not_run_is_shown_somewhere() -> None:
    """The list names nothing that is gone."""
    shown = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [start for start in NOT_RUN if start not in shown] == []
