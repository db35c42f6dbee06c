"""What the engine is told: every load model and kind of request, in the form of its specification."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from jostle.errors import PlanError
from jostle.generator.files_and_ports import connections_of
from jostle.generator.spec.address import Address
from jostle.generator.spec.recorded import without_secrets
from jostle.generator.spec.run import engine_spec
from jostle.plan import load_plan, parse_plan

SECOND = 1_000_000_000
HEAD = 'title = "x"\ncontestants = ["node"]\n[workload.w]\n'
CONTRACT = Path(__file__).parents[2] / "crates/engine/src/spec"


def spec(body: str, base: Path | None = None, **address: Any) -> dict[str, Any]:
    workload = parse_plan(HEAD + body, "plan.toml", base=base).workload["w"]
    return engine_spec("w", workload, Address(host="h", port=80, **address), seed=7, cores=[1])


def load(text: str, base: Path | None = None) -> dict[str, Any]:
    [measured] = spec(f'request = {{ get = "/" }}\nload = {text}', base)["workloads"]
    [value] = measured["load"].values()
    assert isinstance(value, dict)
    return value


def request(text: str, base: Path | None = None) -> dict[str, Any]:
    [measured] = spec(f'request = {text}\nload = {{ clients = 1, for = "1s" }}', base)["workloads"]
    [value] = measured["requests"]
    assert isinstance(value, dict)
    return value


def test_a_parameter_may_hold_whole_paths_and_urls_of_the_server(tmp_path: Path) -> None:
    made = request('{ get = "{p}", params.p = ["/items/1?a=b c", "http://H/ü#x", "/go?to=http://x/"] }')
    assert made["path"] == "{p}"
    assert made["params"] == {"p": {"choice": ["/items/1?a=b%20c", "/%C3%BC", "/go?to=http://x/"]}}
    (tmp_path / "urls.csv").write_text("url\nhttp://h:80/a\n/b\n")
    made = request('{ get = "{u}", params.u = { csv = "urls.csv", column = "url" } }', tmp_path)
    assert made["params"] == {"u": {"in-turn": ["/a", "/b"]}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{ get = "{p}", params.p = ["/a", "b"] }', "params.p: 'b' is neither a path nor a URL"),
        (
            '{ get = "{p}", params.p = ["http://x/"] }',
            "params.p: http://x:80/ is on another server than http://h:80",
        ),
        ('{ get = "{p}", params.p = { from = 1, to = 2 } }', "params.p: a number is no path"),
        (
            '{ get = "/{p}", params.p = ["a", "/b"] }',
            "params.p: '/b' is a whole path, and another / stands before",
        ),
        ('{ get = "/{p}", params.p = ["http://h/b"] }', "params.p: 'http://h/b' is a whole URL"),
        ('{ get = "/{p:raw}", params.p = ["b"] }', r"\{p:raw\}: values of params are never escaped"),
        ('{ get = "{p}" }', r"\{p\} in the path has no value"),
    ],
)
def test_what_is_no_whole_path_is_refused(text: str, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        request(text)


def test_the_login_of_the_server_goes_with_every_request_but_not_with_bytes() -> None:
    login = {"authorization": "Basic eDp5"}
    load = 'load = { clients = 1, for = "1s" }\n'
    made = spec(
        'request = [{ get = "/" }, { get = "/own", headers = { authorization = "Bearer t" } }]\n'
        f'{load}background = {{ post = "/b", clients = 1 }}',
        **login,
    )
    measured, background = made["workloads"]
    lines = [asked["headers"] for asked in [*measured["requests"], *background["requests"]]]
    basic = [["Authorization", "Basic eDp5"]]
    assert lines == [basic, [["authorization", "Bearer t"]], basic]
    assert "eDp5" not in json.dumps(without_secrets(made))
    with pytest.raises(PlanError, match="raw bytes have none"):
        spec(f'request = {{ tcp = "PING", until = "x" }}\n{load}', **login)


def test_a_whole_run() -> None:
    made = spec(
        'request = { get = "/fast/44", expect = "1936" }\nload = { clients = 1, for = "5s" }\n'
        'background = { get = "/slow/43", clients = 1, requests = 1 }\nfirst-byte-timeout = "1s"\n'
        'rows = true\nconnection = { connect-to = ["unix:/run/app"] }',
    )
    target = {
        "host": "h",
        "port": 80,
        "connect_to": ["unix:/run/app"],
        "resolve_each": False,
        "source_addresses": [],
        "tls": None,
        "http2": None,
        "nodelay": True,
    }
    timeouts = {"connect_ns": 3 * SECOND, "first_byte_ns": SECOND, "total_ns": 10 * SECOND}
    asked = {"weight": 1, "method": "GET", "headers": [], "body_base64": None, "params": {}, "stream": None}
    asked |= {"websocket": None, "raw": None, "datagram": None, "grpc": None}
    closed = {
        "clients": 1,
        "think": "none",
        "requests": None,
        "requests_per_client": None,
        "renew": False,
        "requests_per_connection": None,
        "phases": [],
    }
    exact = {"status": [], "body": {"exact": "1936"}}
    anything: dict[str, Any] = {"status": [], "body": None}
    both = {
        "target": target,
        "order": "weighted",
        "timeouts": timeouts,
        "body_limit": None,
        "redirects": None,
    }
    assert made == {
        "seed": 7,
        "threads": 1,
        "cores": [1],
        "real_time": False,
        "busy_poll": False,
        "duration_ns": 5 * SECOND,
        "interval_ns": 100_000_000,
        "rows": True,
        "start_unix_ns": None,
        "workloads": [
            {
                "name": "w",
                "role": "measured",
                "requests": [{"name": "/fast/44", "path": "/fast/44", "expect": exact, **asked}],
                "load": {"closed": closed},
                **both,
            },
            {
                "name": "background",
                "role": "background",
                "requests": [{"name": "/slow/43", "path": "/slow/43", "expect": anything, **asked}],
                "load": {"closed": closed | {"requests": 1}},
                **both,
            },
        ],
    }
    json.dumps(made)


@pytest.mark.parametrize(
    ("think", "becomes"),
    [
        ('"0s"', "none"),
        ('"1s"', {"constant": {"ns": SECOND}}),
        ('"900ms ± 10%"', {"uniform": {"ns": 900_000_000, "spread": 0.1}}),
        ('"uniform 0s..1s"', {"uniform": {"ns": SECOND // 2, "spread": 1.0}}),
        ('"exponential 1s"', {"exponential": {"mean_ns": SECOND}}),
        ('["100ms", "2s"]', {"list": {"ns": [100_000_000, 2 * SECOND]}}),
    ],
)
def test_think_times(think: str, becomes: Any) -> None:
    assert load(f'{{ clients = 1, for = "1s", think = {think} }}')["think"] == becomes


def test_the_crowd_of_the_article() -> None:
    made = load(
        '{ clients = 10_000, think = "900ms ± 10%", requests-per-client = 100, renew = true, '
        'ramp-up = "20m", sustain = "20m", ramp-down = "20m", steps = 10 }'
    )
    assert (made["clients"], made["requests_per_client"], made["renew"]) == (10_000, 100, True)
    leg = {"duration_ns": 1200 * SECOND}
    assert made["phases"] == [
        {"name": "ramp-up", "from": 0, "to": 10_000, "steps": 10, **leg},
        {"name": "sustain", "from": 10_000, "to": 10_000, "steps": None, **leg},
        {"name": "ramp-down", "from": 10_000, "to": 0, "steps": 10, **leg},
    ]


def test_any_phases_and_the_most_clients_of_them() -> None:
    made = load('{ phases = [{ for = "1s", clients = 5 }, { name = "peak", for = "2s", from = 5, to = 9 }] }')
    assert made["clients"] == 9
    assert [(phase["name"], phase["from"], phase["to"]) for phase in made["phases"]] == [
        ("phase 1", 5, 5),
        ("peak", 5, 9),
    ]


def test_how_long_a_run_lasts() -> None:
    def duration(text: str) -> int | None:
        return spec(f'request = {{ get = "/" }}\nload = {text}')["duration_ns"]  # type: ignore[no-any-return]

    assert duration("{ clients = 1, requests = 5 }") is None
    assert duration('{ clients = 1, requests = 5, for = "2s" }') == 2 * SECOND
    assert duration('{ clients = 1, ramp-up = "1s", sustain = "2s" }') == 3 * SECOND
    assert (
        duration('{ rates = [{ for = "1s", rate = "5/s" }, { for = "2s", from = "5/s", to = "9/s" }] }')
        == 3 * SECOND
    )
    assert duration('{ rates = [{ for = "1s", rate = "5/s" }, { rate = "9/s" }], for = "9s" }') == 9 * SECOND


def test_connections() -> None:
    assert load('{ clients = 1, for = "1s", keep-alive = false }')["requests_per_connection"] == 1
    assert (
        load('{ clients = 1, for = "1s", requests-per-connection = 100 }')["requests_per_connection"] == 100
    )
    assert load('{ rate = "5/s", for = "1s", keep-alive = false }')["requests_per_connection"] == 1


def test_open_loads() -> None:
    made = load('{ rate = "1000/s", for = "1s", requests = 5, max-connections = 64 }')
    assert made == {
        "arrivals": "poisson",
        "rates": [{"name": "", "duration_ns": None, "from": 1000.0, "to": 1000.0}],
        "requests": 5,
        "max_connections": 64,
        "requests_per_connection": None,
    }
    ramp = load('{ arrivals = "constant", rates = [{ name = "up", for = "2s", from = "0/s", to = "50/s" }] }')
    assert (ramp["arrivals"], ramp["max_connections"]) == ("constant", 10_000)
    assert ramp["rates"] == [{"name": "up", "duration_ns": 2 * SECOND, "from": 0.0, "to": 50.0}]


def test_a_trace_is_read_from_its_file(tmp_path: Path) -> None:
    trace = tmp_path / "starts.txt"
    trace.write_text("# recorded\n0\n0.5\n\n750ms  # late\n")
    made = load('{ arrivals = { trace = "starts.txt" } }', tmp_path)
    assert made["arrivals"] == {"trace": [0, SECOND // 2, 750_000_000]}
    assert (made["requests"], made["rates"]) == (3, [])
    for text, says in (
        ("2\n1\n", "line 2: 1 comes before"),
        ("x\n", "line 1: 'x' is not"),
        ("", "holds no starts"),
    ):
        trace.write_text(text)
        with pytest.raises(PlanError, match=says):
            load('{ arrivals = { trace = "starts.txt" } }', tmp_path)


@pytest.mark.parametrize(
    ("expect", "status", "body"),
    [
        ('"1936"', [], {"exact": "1936"}),
        ('""', [], {"exact": ""}),
        ("204", [204], None),
        ("[200, 404]", [200, 404], None),
        ('{ status = 200, contains = "Hello" }', [200], {"contains": "Hello"}),
        ("{ length = 1024 }", [], {"length": 1024}),
        (f'{{ sha256 = "{"AB" * 32}" }}', [], {"sha256": "ab" * 32}),
        (
            '{ json = { pointer = "/fibResult", value = 6765 } }',
            [],
            {"json": {"pointer": "/fibResult", "value": 6765}},
        ),
    ],
)
def test_what_is_expected(expect: str, status: list[int], body: Any) -> None:
    assert request(f'{{ get = "/", expect = {expect} }}')["expect"] == {"status": status, "body": body}


def test_what_must_not_come_stands_beside_what_is_expected() -> None:
    made = request("""{ get = "/", expect = { contains = "data", lacks = "errors" } }""")["expect"]
    assert made == {"status": [], "body": {"contains": "data"}, "lacks": "errors"}


def test_bodies_headers_and_params(tmp_path: Path) -> None:
    (tmp_path / "ids.csv").write_text("\ufeffid,name\n7,a\n9,b\n")  # as spreadsheets write it
    (tmp_path / "body.bin").write_bytes(b"\x00\xff")
    made = request(
        '{ name = "order", put = "/o/{id}/{n}/{kind}", body-file = "body.bin", '
        'headers = { A = ["1", "2"], B = "3" }, '
        'params = { id = { csv = "ids.csv", column = "id" }, n = { from = 1, to = 9 }, kind = ["x", "y"] } }',
        tmp_path,
    )
    assert (made["name"], made["method"], made["path"]) == ("order", "PUT", "/o/{id}/{n}/{kind}")
    assert made["headers"] == [["A", "1"], ["A", "2"], ["B", "3"]]
    assert base64.b64decode(made["body_base64"]) == b"\x00\xff"
    assert made["params"] == {
        "id": {"in-turn": ["7", "9"]},
        "n": {"range": {"from": 1, "to": 9}},
        "kind": {"choice": ["x", "y"]},
    }
    with pytest.raises(PlanError, match="has no column 'idd'"):
        request('{ get = "/{i}", params = { i = { csv = "ids.csv", column = "idd" } } }', tmp_path)


def test_mixes_in_sequence() -> None:
    [measured] = spec(
        'request = [{ get = "/a", weight = 3 }, { post = "/a" }]\norder = "sequence"\n'
        'load = { clients = 1, for = "1s" }'
    )["workloads"]
    assert measured["order"] == "sequence"
    assert [(r["name"], r["weight"]) for r in measured["requests"]] == [("/a", 3), ("POST /a", 1)]


@pytest.mark.parametrize(
    ("table", "expected"),
    [("{}", {"connections": None}), ("{ connections = 4 }", {"connections": 4})],
)
def test_http2_and_how_many_connections_clients_share(table: str, expected: dict[str, Any]) -> None:
    made = spec(
        'request = { get = "/" }\nload = { clients = 8, for = "1s" }\nconnection = { http2 = ' + table + " }"
    )
    [measured] = made["workloads"]
    assert measured["target"]["http2"] == expected
    assert connections_of(measured) == (expected["connections"] or 8)


def test_alpn_that_does_not_offer_http2_is_refused() -> None:
    with pytest.raises(PlanError, match="alpn does not offer h2, and http2 asks for it"):
        spec(
            'request = { get = "/" }\nload = { clients = 1, for = "1s" }\n'
            'connection = { http2 = {}, tls = { alpn = ["http/1.1"] } }'
        )


def test_tls_files_are_read_and_keys_reach_no_record(tmp_path: Path) -> None:
    for name in ("ca", "cert", "key"):
        kind = "EC PRIVATE KEY" if name == "key" else "CERTIFICATE"
        (tmp_path / f"{name}.pem").write_text(f"{name}\n-----BEGIN {kind}-----\n-----END {kind}-----\n")
    made = spec(
        'request = { get = "/", headers = { Authorization = "Bearer 1234", Accept = "*/*" } }\n'
        'load = { clients = 1, for = "1s" }\nbody-limit = "1MiB"\n'
        'connection = { nodelay = false, source-addresses = ["127.0.0.2"], tls = { verify = false, '
        'ca = "ca.pem", '
        'cert = "cert.pem", key = "key.pem", server-name = "s", alpn = ["http/1.1"], '
        'version = "1.3", resume = true } }',
        tmp_path,
    )
    [measured] = made["workloads"]
    assert measured["body_limit"] == 2**20
    assert (measured["target"]["nodelay"], measured["target"]["source_addresses"]) == (False, ["127.0.0.2"])
    assert measured["target"]["tls"] == {
        "insecure": True,
        "ca_pem": "ca\n-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
        "client_cert_pem": "cert\n-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
        "client_key_pem": "key\n-----BEGIN EC PRIVATE KEY-----\n-----END EC PRIVATE KEY-----\n",
        "server_name": "s",
        "alpn": ["http/1.1"],
        "version": "1.3",
        "resume": True,
    }
    recorded = json.dumps(without_secrets(made))
    assert "PRIVATE KEY" not in recorded
    assert "1234" not in recorded
    assert "*/*" in recorded
    assert "1234" in json.dumps(made)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nothing", "holds no certificate in PEM form"),
        ("-----BEGIN CERTIFICATE-----\nMIIB", "holds no whole certificate in PEM form"),
    ],
)
def test_a_file_without_a_whole_certificate_is_told_with_its_option(
    tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "ca.pem").write_text(text)
    with pytest.raises(PlanError, match=rf"tls\.ca \(--cacert\): .*ca\.pem {says}"):
        spec(
            'request = { get = "/" }\nload = { clients = 1, for = "1s" }\n'
            'connection = { tls = { ca = "ca.pem" } }',
            tmp_path,
        )


def test_a_server_that_speaks_https_is_verified_by_default() -> None:
    made = spec('request = { get = "/" }\nload = { clients = 1, for = "1s" }', tls=True)
    assert made["workloads"][0]["target"]["tls"]["insecure"] is False


def test_a_file_that_has_gone_since_the_plan_was_read(tmp_path: Path) -> None:
    (tmp_path / "body").write_text("x")
    (tmp_path / "plan.toml").write_text(
        HEAD + 'request = { post = "/", body-file = "body" }\nload = { clients = 1, for = "1s" }'
    )
    workload = load_plan(tmp_path / "plan.toml").workload["w"]
    (tmp_path / "body").unlink()
    with pytest.raises(PlanError, match="body cannot be read: no such file"):
        engine_spec("w", workload, Address(host="h", port=80))


def fields_of(struct: str) -> tuple[set[str], set[str]]:
    """All fields of a struct of the contract, and those that may not be left out."""
    text = "\n".join(file.read_text() for file in CONTRACT.glob("*.rs"))
    body = re.search(rf"pub struct {struct} \{{\n(.*?)\n\}}", text, re.DOTALL)
    assert body, struct
    every = re.findall(r'(#\[serde\(default(?:, rename = "(\w+)")?[^\n]*\n\s*)?pub (\w+):', body[1])
    keys = [(default, key or name) for default, key, name in every]
    return {key for _, key in keys}, {key for default, key in keys if not default}


def test_the_keys_are_those_of_the_contract() -> None:
    made = spec(
        'request = { get = "/" }\nload = { clients = 1, sustain = "1s" }\nconnection = { tls = {} }\n'
        'background = { get = "/", rate = "5/s" }'
    )
    closed, opened = made["workloads"]
    parts = {
        "RunSpec": made,
        "WorkloadSpec": closed,
        "TargetSpec": closed["target"],
        "TlsSpec": closed["target"]["tls"],
        "RequestSpec": closed["requests"][0],
        "ExpectSpec": closed["requests"][0]["expect"],
        "ClosedSpec": closed["load"]["closed"],
        "PhaseSpec": closed["load"]["closed"]["phases"][0],
        "OpenSpec": opened["load"]["open"],
        "RateSpec": opened["load"]["open"]["rates"][0],
        "TimeoutSpec": closed["timeouts"],
    }
    for struct, part in parts.items():
        known, needed = fields_of(struct)
        assert needed <= part.keys() <= known, struct


def test_redirects_may_lead_to_hosts_that_are_allowed_and_from_loopback_to_loopback() -> None:
    body = 'request = { get = "/" }\nload = { clients = 1, for = "1s" }\nredirects = 3'
    workload = parse_plan(HEAD + body, "plan.toml").workload["w"]

    def rule(host: str) -> Any:
        spec = engine_spec("w", workload, Address(host=host, port=80), allowed_hosts=["mine"])
        return spec["workloads"][0]["redirects"]

    assert rule("h") == {"most": 3, "hosts": ["mine"]}
    assert rule("127.0.0.1") == {"most": 3, "hosts": ["mine", "localhost", "127.0.0.1", "::1"]}
