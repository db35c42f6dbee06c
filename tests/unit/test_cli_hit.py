"""What the options of `jostle hit` become; what a plan makes of them is tested with plans."""

import socket
from pathlib import Path
from typing import Any

import pytest

from jostle.errors import PlanError
from jostle.plan import ClosedLoad


def test_how_clients_wait_and_how_long_connections_last(plan_of: Any) -> None:
    plan = plan_of("hit", "http://localhost/", "--think", "900ms ± 10%", "--requests-per-connection", "100")
    load = plan.workload["hit"].load
    assert isinstance(load, ClosedLoad)
    assert (load.think.kind, load.think.seconds, load.think.spread) == ("uniform", 0.9, 0.1)
    assert load.requests_per_connection == 100


def test_counts_as_people_write_them(plan_of: Any) -> None:
    load = plan_of("hit", "http://localhost/", "-c", "10k", "-n", "1_000_000").workload["hit"].load
    assert (load.clients, load.requests) == (10_000, 1_000_000)


def test_timeouts_apart(plan_of: Any) -> None:
    times = ["--connect-timeout", "1s", "--first-byte-timeout", "2s", "--timeout", "3s"]
    hit = plan_of("hit", "http://localhost/", *times).workload["hit"]
    assert (hit.connect_timeout, hit.first_byte_timeout, hit.timeout) == (1.0, 2.0, 3.0)
    assert plan_of("hit", "http://localhost/").workload["hit"].connect_timeout == 3.0


def test_where_connections_go_and_come_from(plan_of: Any, tmp_path: Path) -> None:
    path = tmp_path / "app.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        hit = plan_of(
            "hit",
            "http://api.local/",
            *("--connect-to", "127.0.0.1:8080", "--connect-to", "[::1]:8080", "--unix-socket", str(path)),
            *("--source-address", "127.0.0.2", "--source-address", "127.0.0.3"),
        ).workload["hit"]
    assert hit.connection.connect_to == ["127.0.0.1:8080", "[::1]:8080", f"unix:{path}"]
    assert hit.connection.source_addresses == ["127.0.0.2", "127.0.0.3"]


def test_whom_to_trust_and_who_the_client_is(plan_of: Any, tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.pem" for name in ("cacert", "cert", "key")}
    for file in files.values():
        file.write_text("-----BEGIN X-----\n")
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    tls = plan_of("hit", "https://localhost/", *options).workload["hit"].connection.tls
    assert (tls.ca, tls.cert, tls.key) == tuple(files.values())
    assert tls.verify


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["http://localhost/", "--think", "long"], "--think: 'long' is not a duration"),
        (["http://localhost/", "--connect-to", f"1.2.3.4:{'9' * 5000}"], '--connect-to: "1.2.3.4:99'),
        (
            ["http://localhost/", "--connect-to", "localhost:80"],
            '--connect-to: "localhost:80" is not an address',
        ),
        (["http://localhost/", "--connect-to", "::1:80"], '--connect-to: "::1:80" is not an address'),
        (["http://localhost/", "--source-address", "lo"], '--source-address: "lo" is not an IP address'),
        (["http://localhost/", "--unix-socket", "/none"], "--unix-socket: /none is not a socket"),
        (["http://localhost/", "--unix-socket", "x" * 5000], "--unix-socket: xxx"),
        (["https://localhost/", "--cacert", "x" * 5000], "--cacert: there is no file"),
        (["http://localhost/", "--expect-status", "99"], "--expect-status: 99 is not a status"),
        (["http://localhost/", "--expect-status", "ok"], "--expect-status: 'ok' is not a list"),
        (["http://localhost/", "--cacert", "a.pem"], "http://localhost:80/ does not use TLS"),
        (
            ["https://localhost/", "--cert", __file__],
            "--cert, --key: a client's certificate goes with its key",
        ),
    ],
)
def test_mistakes_are_told_in_the_options_names(plan_of: Any, arguments: list[str], says: str) -> None:
    with pytest.raises(PlanError) as refused:
        plan_of("hit", *arguments)
    assert refused.value.message.startswith(says)


@pytest.mark.parametrize(
    ("options", "most"),
    [([], None), (["-L"], 5), (["--location", "--max-redirs", "2"], 2), (["--max-redirs", "9"], 9)],
)
def test_redirects_are_followed_when_asked_for(plan_of: Any, options: list[str], most: int | None) -> None:
    assert plan_of("hit", "http://localhost/", *options).workload["hit"].redirects == most


def test_a_warm_up_a_login_and_an_agent(plan_of: Any) -> None:
    hit = plan_of("hit", "http://localhost/", "--warm-up", "3s", "-u", "ann:pw", "-A", "probe").workload[
        "hit"
    ]
    assert hit.warm_up == 3.0
    assert hit.request[0].headers == {"Authorization": "Basic YW5uOnB3", "User-Agent": "probe"}
    posted = plan_of("hit", "http://localhost/", "--json-body", "{}").workload["hit"].request[0]
    assert (posted.method, posted.body, posted.headers["Accept"]) == ("POST", "{}", "application/json")


def test_a_list_or_a_curl_command_in_place_of_a_url(plan_of: Any, tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("http://localhost/a\nhttp://localhost/b 2\n")
    listed = plan_of("hit", "-f", str(tmp_path / "urls.txt"), "-c", "7").workload["hit"]
    assert [(one.path, one.weight) for one in listed.request] == [("/a", 1), ("/b", 2)]
    words = ["--", "curl", "-s", "http://localhost/a?b=1&c", "-d", "x=y", "-c", "jar"]
    pasted = plan_of("hit", "-c", "7", *words).workload["hit"]
    assert (pasted.load.clients, pasted.request[0].path, pasted.request[0].body) == (7, "/a?b=1&c", "x=y")
    (tmp_path / "pasted.txt").write_text("curl 'http://localhost/z' \\\n  -I\n")
    for given in (f"@{tmp_path}/pasted.txt", "curl -I http://localhost/z"):
        assert plan_of("hit", given).workload["hit"].request[0].head == "/z"


def test_what_a_curl_command_says_stays_unless_an_option_says_otherwise(plan_of: Any) -> None:
    words = ["--", "curl", "-k", "-m", "30", "--http2", "-L", "https://localhost/"]
    pasted = plan_of("hit", *words).workload["hit"]
    assert (pasted.timeout, pasted.redirects, pasted.connection.tls.verify) == (30.0, 50, False)
    assert pasted.connection.http2 is not None
    assert plan_of("hit", "--timeout", "5s", *words).workload["hit"].timeout == 5.0
    assert plan_of("hit", "--", "curl", "localhost").workload["hit"].timeout == 10.0


def test_a_method_holds_for_the_lines_of_a_list_that_name_none(plan_of: Any, tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("http://localhost/a\nDELETE http://localhost/b\n")

    def labels(*options: str) -> list[str]:
        listed = plan_of("hit", "-f", str(tmp_path / "urls.txt"), *options).workload["hit"]
        return [one.label for one in listed.request]

    assert labels("-X", "PUT") == ["PUT /a", "DELETE /b"]
    assert labels("-X", "PURGE") == ["PURGE /a", "DELETE /b"]
    assert labels("--json-body", "{}") == ["POST /a", "DELETE /b"]
    assert labels("--json-body", "{}", "-X", "patch") == ["PATCH /a", "DELETE /b"]


def test_a_text_too_long_for_a_path_is_no_folder(plan_of: Any) -> None:
    with pytest.raises(PlanError, match="there is no folder"):
        plan_of("hit", "grpc://localhost/a.B/C", "--proto", __file__, "--import-path", "x" * 5000)
