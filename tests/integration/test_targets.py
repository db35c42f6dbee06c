"""What the user gives as target: what of it goes over the wire, and what is told instead."""

import base64
import contextlib
import os
import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from jostle.explain.run import target_of
from jostle.explain.server.target import look
from support.handlers import Handler, serving
from support.real import Jostle, as_json

LOGIN = f"Basic {base64.b64encode(b'ann:secret').decode()}"
STEPS = {
    "toml": '[journey.a]\nsteps = [{ get = "/x" }, { method = "PURGE", path = "/y" }]\n',
    "hurl": "GET {{base_url}}/x\n\nPURGE {{base_url}}/y\n",
    "luau": 'return function() http.get("/x") http.PURGE("/y") end\n',
}


class Site(Handler):
    """Keeps what it was asked; answers 404 below /no, and 401 below /private without a login."""

    asked: ClassVar[list[tuple[str, str, str | None, str | None]]] = []

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        login = self.headers["Authorization"]
        Site.asked.append((self.command, self.path, self.headers["Host"], login))
        private = self.path.startswith("/private") and login != LOGIN
        self.response(404 if self.path.startswith(("/no", "//")) else 401 if private else 200, "hello")

    do_PURGE = do_PROPFIND = do_QUERY = do_GET  # noqa: N815 (the names that http.server looks for)


@pytest.fixture
def site() -> Iterator[str]:
    Site.asked.clear()
    with serving(Site) as url:
        yield url


def port_of(url: str) -> str:
    return url.rpartition(":")[2]


def with_login(url: str) -> str:
    return url.replace("http://", "http://ann:secret@")


@pytest.mark.parametrize("kind", STEPS)
def test_a_login_in_the_url_and_any_method_go_with_every_step(
    jostle_command: Jostle, site: str, tmp_path: Path, kind: str
) -> None:
    (tmp_path / f"a.{kind}").write_text(STEPS[kind])
    target = (with_login(site), "--journey", f"a.{kind}", "-n", "2", "-c", "1")
    result = as_json(jostle_command("hit", *target, "--json"))
    assert result["summaries"][0]["outcomes"] == {"ok": 4}
    assert {(method, path, login) for method, path, _, login in Site.asked} == {
        ("GET", "/x", LOGIN),
        ("PURGE", "/y", LOGIN),
    }
    once = jostle_command("hit", with_login(site), "--journey", f"a.{kind}", "--once")
    assert once.returncode == 0, once.stderr
    assert Site.asked[-1][3] == LOGIN


@pytest.mark.parametrize("kind", STEPS)
def test_a_path_of_the_url_is_refused_where_steps_have_paths(
    jostle_command: Jostle, site: str, tmp_path: Path, kind: str
) -> None:
    (tmp_path / f"a.{kind}").write_text(STEPS[kind])
    finished = jostle_command("hit", f"{with_login(site)}/api/v1?key=1", "--journey", f"a.{kind}", "-n", "2")
    assert finished.returncode == 2
    assert "--journey: steps say which path and query they ask for" in " ".join(finished.stderr.split())
    assert "secret" not in finished.stdout + finished.stderr
    assert not Site.asked


PLAN = """
title = "A private site"
contestants = ["site"]
rounds = 1
repeats = false
[contestant.site]
url = "URL"
[workload.requests]
request = [{ get = "/private/a" }, { method = "PROPFIND", path = "/private/b" }]
load = { clients = 1, requests = 4 }
[workload.steps]
journeys = "walk"
load = { clients = 1, iterations = 2 }
[journey.walk]
steps = [{ get = "/private/c" }, { name = "own", get = "/d", headers = { Authorization = "Bearer t" } }]
"""


def test_a_login_in_the_url_of_a_contestant_is_sent_and_never_shown(
    jostle_command: Jostle, site: str, tmp_path: Path
) -> None:
    (tmp_path / "p.toml").write_text(PLAN.replace("URL", with_login(site)))
    checked = jostle_command("check", "p.toml")
    assert checked.returncode == 0, checked.stderr
    assert site in "".join(checked.stdout.split())
    finished = jostle_command("run", "p.toml", "--into", "runs")
    assert {login for _, path, _, login in Site.asked if path.startswith("/private")} == {LOGIN}
    assert {login for _, path, _, login in Site.asked if path == "/d"} == {"Bearer t"}
    written = "".join(
        file.read_text(errors="replace") for file in tmp_path.glob("runs/**/*") if file.is_file()
    )
    for shown in (checked.stdout, checked.stderr, finished.stdout, finished.stderr, written):
        assert "secret" not in shown
    for kept in (finished.stdout, finished.stderr, written):
        assert LOGIN.removeprefix("Basic ") not in kept


def test_explain_sends_the_login_to_every_route(site: str) -> None:
    slow = ["/private/b?to=http://x/", f"{site}/private/c"]
    with target_of(f"{with_login(site)}/private/a", slow=slow) as target:
        assert [look(target, route).status for route in target.routes] == [200, 200, 200]
        assert target.workload["requests"][0]["headers"] == [["Authorization", LOGIN]]
        assert "secret" not in repr(target)
    assert [path for _, path, *_ in Site.asked] == ["/private/a", *slow[:1], "/private/c"]


def test_a_scheme_is_only_what_the_url_begins_with(jostle_command: Jostle, site: str) -> None:
    bare = site.removeprefix("http://")
    as_json(jostle_command("hit", f"{bare}/go?to=http://example.org/", "-n", "1", "--json"))
    assert Site.asked == [("GET", "/go?to=http://example.org/", bare, None)]


@pytest.mark.parametrize(
    ("host", "sent"),
    [
        ("faß.example", "xn--fa-hia.example"),
        ("☃.example", "xn--n3h.example"),
        ("under_score.EXAMPLE", "under_score.example"),
        ("[fe80::1%25eth0]", "[fe80::1]"),
        ("[fe80::1%eth0]", "[fe80::1]"),
    ],
)
def test_the_host_is_the_one_that_browsers_would_ask(
    jostle_command: Jostle, site: str, host: str, sent: str
) -> None:
    port = port_of(site)
    there = ("--connect-to", f"127.0.0.1:{port}")
    as_json(jostle_command("hit", f"http://{host}:{port}/", *there, "-n", "1", "-c", "1", "--json"))
    assert Site.asked == [("GET", "/", f"{sent}:{port}", None)]


def link_local() -> str:
    """An address of a network interface of this machine, with its name; ::1 where there is none."""
    for line in Path("/proc/net/if_inet6").read_text().splitlines():
        digits, *_, name = line.split()
        if digits.startswith("fe80"):
            return f"{':'.join(digits[at : at + 4] for at in range(0, 32, 4))}%{name}"
    return "::1"


def test_a_network_interface_is_named_in_either_way(jostle_command: Jostle) -> None:
    class Six(socketserver.ThreadingTCPServer):
        address_family = socket.AF_INET6
        daemon_threads = True

    Site.asked.clear()
    with Six(("::", 0), Site) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        port, address = server.server_address[1], link_local()
        for host in (address, address.replace("%", "%25")):
            result = as_json(
                jostle_command("hit", f"http://[{host}]:{port}/", "-n", "2", "-c", "1", "--json")
            )
            assert result["summaries"][0]["outcomes"] == {"ok": 2}
        there = ("--connect-to", f"[{address}]:{port}", "-n", "2", "-c", "1", "--json")
        as_json(jostle_command("hit", "http://device.example/", *there))
        server.shutdown()
    hosts = [host or "" for _, _, host, _ in Site.asked]
    assert len(hosts) == 6
    assert not any("%" in host for host in hosts)


def test_a_method_of_ones_own(jostle_command: Jostle, site: str) -> None:
    as_json(jostle_command("hit", f"{site}/x", "-X", "QUERY", "-b", "{}", "-n", "1", "-c", "1", "--json"))
    assert [method for method, *_ in Site.asked] == ["QUERY"]
    refused = jostle_command("hit", f"{site}/x", "-X", "CONNECT", "-n", "1")
    assert refused.returncode == 2
    assert "CONNECT asks for a tunnel" in refused.stderr


@contextlib.contextmanager
def on_socket(name: str) -> Iterator[None]:
    class Local(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

        def get_request(self) -> tuple[object, tuple[str, int]]:
            return super().get_request()[0], ("local", 0)

    class Plain(Site):
        disable_nagle_algorithm = False  # TCP alone has it

    with Local(name, Plain) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield
        server.shutdown()


def test_a_socket_of_the_abstract_namespace(jostle_command: Jostle) -> None:
    Site.asked.clear()
    name = f"jostle-test-{os.getpid()}"
    with on_socket(f"\0{name}"):
        result = as_json(
            jostle_command("hit", "http://app/", "--unix-socket", f"@{name}", "-n", "3", "-c", "1", "--json")
        )
    assert result["summaries"][0]["outcomes"] == {"ok": 3}
    gone = jostle_command("hit", "http://app/", "--unix-socket", f"@{name}", "-n", "1")
    assert gone.returncode == 2
    assert f"cannot connect to unix:@{name}: connection refused" in gone.stderr


def test_a_name_may_be_resolved_for_every_connection(jostle_command: Jostle, site: str) -> None:
    there = f"http://localhost:{port_of(site)}/"
    each = ("--resolve-each", "--no-keepalive", "-n", "5", "-c", "1", "--json")
    (summary,) = as_json(jostle_command("hit", there, *each))["summaries"]
    assert summary["outcomes"] == {"ok": 5}
    assert "dns" in summary["parts"]


MIX = """
title = "Pages"
contestants = ["site"]
rounds = 1
repeats = false
[contestant.site]
url = "URL"
[workload.mix]
order = "sequence"
request = { get = "{page}", params = { page = { csv = "urls.csv", column = "url" } } }
load = { clients = 1, requests = 4 }
"""


def test_a_list_of_paths_and_urls_is_asked_for_as_it_is(
    jostle_command: Jostle, site: str, tmp_path: Path
) -> None:
    (tmp_path / "p.toml").write_text(MIX.replace("URL", site))
    (tmp_path / "urls.csv").write_text(f"url\n/items/1?a=b\n{site}/items/2\n/a b/ü\n/go?to=http://x/\n")
    assert jostle_command("run", "p.toml", "--into", "runs").returncode in (0, 3, 4)
    expected = ["/items/1?a=b", "/items/2", "/a%20b/%C3%BC", "/go?to=http://x/"]
    assert [path for _, path, *_ in Site.asked] == expected


def test_a_run_with_wrong_statuses_shows_what_was_really_sent(
    jostle_command: Jostle, site: str, tmp_path: Path
) -> None:
    (tmp_path / "a.toml").write_text(
        '[journey.a]\nfeed = { csv = "v.csv" }\n'
        'steps = [{ get = "/no/{v}?token=abc", capture = { x = "status" } }]\n'
    )
    (tmp_path / "v.csv").write_text("v\nitems/1\n")
    finished = jostle_command("hit", site, "--journey", "a.toml", "-n", "5", "-c", "1")
    said = " ".join(finished.stdout.split())
    assert "100 % failed: 5 × 404, for example GET /no/items%2F1?token=(hidden)" in said


def test_a_long_url_fills_no_screen(jostle_command: Jostle, site: str, tmp_path: Path) -> None:
    finished = jostle_command("hit", f"{site}/{'x' * 20_000}", "-n", "5", "-c", "1")
    assert max(len(finished.stdout), len(finished.stderr)) < 8000
    assert "xxx…xxx" in "".join(finished.stdout.split())
    jostle_command("hit", f"{site}/{'x' * 20_000}", "-n", "5", "-c", "1", "-o", "r.md")
    assert len((tmp_path / "r.md").read_text().splitlines()[0]) < 250


def test_a_network_interface_that_is_not_there_is_named(jostle_command: Jostle) -> None:
    finished = jostle_command("hit", "http://[fe80::1%25none7]:8080/", "-n", "1")
    assert finished.returncode == 2
    assert "this machine has no network interface none7" in " ".join(finished.stderr.split())
