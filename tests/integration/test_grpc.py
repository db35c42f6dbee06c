"""gRPC through the command line: a server whose responses are known, and grpcio, grpc-go and grpc-java."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jostle import roster
from support.handlers import certificate_in
from support.real import REFERENCE_PROTO, Jostle, as_json, reference_server

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "support" / "grpc"
UV = ROOT / ".tools" / "bin" / "uv"
ROSTER_PROTO = Path(roster.__file__).parent / "shared" / "grpc" / "echo.proto"
PACKAGES = ["grpcio==1.85.1", "grpcio-reflection==1.85.1", "grpcio-tools==1.85.1"]

SERVER = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
import grpc
import echo_pb2, echo_pb2_grpc
from grpc_reflection.v1alpha import reflection

class Echo(echo_pb2_grpc.EchoServicer):
    def Say(self, words, context):
        left = context.time_remaining()
        seen = {**dict(context.invocation_metadata()), "deadline": "none" if left is None else "given"}
        words.seen.extend(f"{key}={seen[key]}" for key in ("x-user", "deadline") if key in seen)
        return words

    def Repeat(self, order, context):
        for number in range(order.times):
            yield echo_pb2.Words(text=order.text, number=number)

    def Collect(self, several, context):
        texts = [words.text for words in several]
        return echo_pb2.Order(times=len(texts), text=" ".join(texts))

    def Talk(self, several, context):
        yield from several

    def Refuse(self, order, context):
        if order.times == 4:
            time.sleep(1)
        context.abort(list(grpc.StatusCode)[order.times], order.text)

server = grpc.server(ThreadPoolExecutor(8))
echo_pb2_grpc.add_EchoServicer_to_server(Echo(), server)
reflection.enable_server_reflection(["test.v1.Echo", reflection.SERVICE_NAME], server)
pair = [(open("key.pem", "rb").read(), open("cert.pem", "rb").read())]
ports = [
    server.add_insecure_port("127.0.0.1:0"),
    server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials(pair)),
]
server.start()
print(*ports, flush=True)
server.wait_for_termination()
"""


class Service(NamedTuple):
    """A server that others wrote: the .proto file of its service, and its URLs without and with TLS."""

    proto: Path
    url: str
    secure: str


def run(folder: Path, *words: str | Path) -> None:
    subprocess.run([str(word) for word in words], cwd=folder, check=True, capture_output=True)


def python_with_grpc(folder: Path) -> Path:
    """A Python that has Google's packages."""
    python = folder / "environment" / "bin" / "python"
    run(folder, UV, "venv", "--quiet", "--python", sys.executable, folder / "environment")
    run(folder, UV, "pip", "install", "--quiet", "--python", python, *PACKAGES)
    return python


def protoc(folder: Path, *outputs: str) -> Path:
    """Compiles echo.proto by the compiler in Google's package for Python; gives the Python that has it."""
    python = python_with_grpc(folder)
    run(folder, python, "-m", "grpc_tools.protoc", "-I.", *outputs, "echo.proto")
    return python


def grpcio(folder: Path) -> list[str | Path]:
    (folder / "server.py").write_text(SERVER)
    return [protoc(folder, "--python_out=.", "--grpc_python_out=."), "server.py"]


def grpc_go(folder: Path) -> list[str | Path]:
    shutil.copytree(SOURCES / "go", folder, dirs_exist_ok=True)
    # Without cgo, as contestants are built: what Go itself brings is then compiled once.
    run(folder, "env", "CGO_ENABLED=0", "go", "build", "-o", "server", ".")
    return [folder / "server", folder / "echo.proto", "cert.pem", "key.pem"]


def grpc_java(folder: Path) -> list[str | Path]:
    shutil.copytree(SOURCES / "java", folder, dirs_exist_ok=True)
    maven = ["mvn", "--batch-mode", "--quiet", "--strict-checksums", "dependency:copy-dependencies"]
    run(folder, *maven, "-DoutputDirectory=lib")
    run(folder, "sha256sum", "--check", "--strict", "--quiet", "jars.sha256")
    run(folder, "javac", "-cp", "lib/*", "-d", "classes", "Server.java")
    protoc(folder, "--descriptor_set_out=echo.descriptors")
    return ["java", "-cp", "lib/*:classes", "Server", "echo.descriptors", "cert.pem", "key.pem"]


@pytest.fixture(scope="module", params=[grpcio, grpc_go, grpc_java])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Each of the servers, built from its source."""
    folder = tmp_path_factory.mktemp("service")
    proto = shutil.copy(SOURCES / "echo.proto", folder)
    certificate_in(folder)
    command = [str(word) for word in request.param(folder)]
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        plain, secure = process.stdout.readline().split()
        yield Service(proto, f"grpc://127.0.0.1:{plain}", f"grpcs://127.0.0.1:{secure}")
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module")
def reference() -> Iterator[str]:
    with reference_server("grpc") as url:
        yield url.replace("http://", "grpc://")


def outcomes(result: dict[str, Any]) -> dict[str, int]:
    return dict(result["trials"][0]["outcomes"])


@pytest.mark.parametrize(
    "options",
    [
        ["-c", "4", "-n", "80"],
        ["-c", "8", "-n", "80", "--http2-connections", "2", "--processes", "2"],
        ["--rate", "200/s", "-n", "60"],
        ["-c", "2", "-n", "40", "--no-keepalive"],
    ],
    ids=["closed", "shared", "open", "short"],
)
def test_calls_of_every_load_are_answered(
    jostle_command: Jostle, service: Service, options: list[str]
) -> None:
    proto, url, _ = service
    call = [f"{url}/test.v1.Echo/Say", "--proto", proto, "--message", '{"text": "hällo", "number": "7"}']
    expected = '"text":"hällo","number":7,"seen":["x-user=me","deadline=given"]'
    words = [*call, "-H", "x-user: me", "--deadline", "60s", "--timeout", "60s", "--expect", expected]
    result = as_json(jostle_command("hit", *words, *options, "--json"))
    assert outcomes(result) == {"ok": int(options[options.index("-n") + 1])}


def test_streams_go_in_both_directions(jostle_command: Jostle, service: Service) -> None:
    proto, _, url = service
    common = ["--proto", proto, "-k", "-c", "2", "-n", "6", "--json"]
    repeat = [
        f"{url}/test.v1.Echo/Repeat",
        "--message",
        '{"times": 5, "text": "x"}',
        "--expect",
        '"number":4',
    ]
    result = as_json(jostle_command("hit", *repeat, *common))
    assert (outcomes(result), result["streams"][0]["events"]) == ({"ok": 6}, 30)
    some = '[{"text": "a"}, {"text": "b"}, {}]'
    collect = [f"{url}/test.v1.Echo/Collect", "--message", some, "--expect", '"times":3,"text":"a b "']
    assert outcomes(as_json(jostle_command("hit", *collect, *common))) == {"ok": 6}
    talk = [f"{url}/test.v1.Echo/Talk", "--message", some, "--stream-events", "2"]
    result = as_json(jostle_command("hit", *talk, *common))
    assert (outcomes(result), result["streams"][0]["events"]) == ({"ok": 6}, 12)


def test_messages_at_an_interval_have_round_trips(jostle_command: Jostle, service: Service) -> None:
    some = '[{"text": "a"}, {"text": "b"}, {}, {"number": 4}]'
    talk = [
        f"{service.url}/test.v1.Echo/Talk",
        "--proto",
        service.proto,
        "--message",
        some,
        "--every",
        "10ms",
    ]
    slo = ["--slo", "round trip < 60 s"]
    result = as_json(jostle_command("hit", *talk, *slo, "-c", "2", "-n", "6", "--json"))
    (found,) = result["streams"]
    assert (outcomes(result), found["met"], found["unanswered"]) == ({"ok": 6}, 6, 0)
    assert 0 < found["round_trip"]["p50"]["value"] <= found["last"]["max"]["value"]
    assert result["summaries"][0]["response"]["p50"]["value"] >= 0.030, "the last message is due after 30 ms"


def test_a_status_is_told_by_name_and_text(jostle_command: Jostle, service: Service) -> None:
    proto, url, _ = service
    call = [
        f"{url}/test.v1.Echo/Refuse",
        "--proto",
        proto,
        "--message",
        '{"times": 14, "text": "kein Läufer"}',
    ]
    finished = jostle_command("hit", *call, "-c", "1", "-n", "3", "--json")
    result = as_json(finished)
    assert outcomes(result) == {"grpc_status": 3}
    assert result["summaries"][0]["failures"] == {"grpc_status": {"UNAVAILABLE: kein Läufer": 3}}
    late = [f"{url}/test.v1.Echo/Refuse", "--proto", proto, "--message", '{"times": 4}', "--deadline", "50ms"]
    assert outcomes(as_json(jostle_command("hit", *late, "-c", "1", "-n", "2", "--json"))) == {
        "response_timeout": 2
    }


def test_a_server_says_itself_what_its_services_are(jostle_command: Jostle, service: Service) -> None:
    _, url, secure = service
    options = ["--message", '{"text": "x"}', "--expect", '"text":"x"', "-c", "1", "-n", "3"]
    result = as_json(jostle_command("hit", f"{url}/test.v1.Echo/Say", *options, "--json"))
    assert outcomes(result) == {"ok": 3}
    result = as_json(jostle_command("hit", f"{secure}/test.v1.Echo/Talk", "-k", *options, "--json"))
    assert (outcomes(result), result["streams"][0]["events"]) == ({"ok": 3}, 3)
    for method, says in [
        ("test.v1.Ecko/Say", "did you mean 'test.v1.Echo'"),
        ("test.v1.Echo/Sai", "did you mean 'test.v1.Echo/Say'"),
    ]:
        finished = jostle_command("hit", f"{url}/{method}", *options)
        assert finished.returncode == 2
        assert says in " ".join(finished.stderr.split())


def test_a_server_that_does_not_describe_itself_wants_a_file(jostle_command: Jostle, reference: str) -> None:
    finished = jostle_command("hit", f"{reference}/jostle.Echo/Say", "-n", "2")
    assert finished.returncode == 2
    said = " ".join(finished.stderr.split())
    assert "does not describe its services (reflection): UNIMPLEMENTED" in said
    assert "--proto FILE" in said


def test_messages_have_the_gaps_of_the_schedule(jostle_command: Jostle, reference: str) -> None:
    schedule = ["-H", "schedule: n=8&first-ms=30&gap-ms=20", "--proto", REFERENCE_PROTO]
    url = f"{reference}/jostle.Echo/Repeat"
    result = as_json(jostle_command("hit", url, *schedule, "-c", "4", "-n", "8", "--json"))
    (found,) = result["streams"]
    assert outcomes(result) == {"ok": 8}
    assert (found["whole"], found["events"], found["broken_off"], found["none"]) == (8, 64, 0, 0)
    assert found["first"]["p50"]["value"] >= 0.030
    assert found["gap"]["p50"]["value"] == pytest.approx(0.020, rel=0.25)


def test_round_trips_count_from_when_a_message_was_due(jostle_command: Jostle, reference: str) -> None:
    """Nothing is answered for 60 ms: the first message waits for that long, that due after 20 ms for 40."""
    call = [f"{reference}/jostle.Echo/Talk", "--proto", REFERENCE_PROTO, "-H", "delay-ms: 60"]
    message = ["--message", '[{"number": 1}, {"number": 2}]', "--every", "20ms"]
    shown = jostle_command(
        "hit", *call, *message, "--slo", "round trip < 40 ms", "-c", "1", "-n", "5", "--json"
    )
    (found,) = as_json(shown)["streams"]
    assert (found["whole"], found["met"], found["unanswered"]) == (5, 0, 0)
    assert found["round_trip"]["p50"]["value"] >= 0.040
    assert found["round_trip"]["max"]["value"] >= 0.060


def test_a_plan_s_parameters_and_a_journey_s_captures_stand_in_messages(
    jostle_command: Jostle, reference: str, tmp_path: Path
) -> None:
    (tmp_path / "echo.proto").write_text(REFERENCE_PROTO.read_text())
    plan = tmp_path / "plan.toml"
    call = 'grpc = "jostle.Echo/Say"\nproto = "echo.proto"'
    plan.write_text(f"""
title = "x"
contestants = ["echo"]
contestant.echo.url = "{reference.replace("grpc://", "http://")}"
rounds = 1
repeats = false
[workload.words.request]
{call}
name = "say"
message = {{ text = "{{who}}", number = "{{n}}" }}
params = {{ who = ['a "quoted" one'], n = {{ from = 7, to = 7 }} }}
expect = {{ contains = 'quoted\\" one","number":7' }}
[workload.words.load]
clients = 2
requests = 20
[[journey.twice.steps]]
{call}
name = "first"
message = {{ text = "a", number = 41 }}
capture = {{ number = "json:/number" }}
[[journey.twice.steps]]
{call}
name = "second"
message = {{ text = "{{number}}", number = "{{number}}" }}
expect = {{ json = {{ pointer = "/number", value = 41 }} }}
[workload.steps]
journeys = "twice"
[workload.steps.load]
clients = 2
iterations = 10
""")
    finished = jostle_command("run", plan, "--no-pages", "--json", "--into", tmp_path / "out")
    result = as_json(finished)
    assert [outcomes({"trials": [trial]}) for trial in result["trials"]] == [{"ok": 20}, {"ok": 20}]


TOGETHER = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
import grpc

peers, all_here = set(), threading.Barrier(3)

def say(words, context):
    peers.add(context.peer())
    all_here.wait(10)  # nobody is answered before three are here, all over one connection
    if len(peers) != 1:
        context.abort(grpc.StatusCode.INTERNAL, f"{len(peers)} connections")
    return words

server = grpc.server(ThreadPoolExecutor(3))
methods = {"Say": grpc.unary_unary_rpc_method_handler(say)}
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("jostle.Echo", methods)])
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
server.wait_for_termination()
"""


def test_calls_of_a_journey_are_sent_together_over_one_connection(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    steps = ", ".join(
        f'{{ name = "{name}", grpc = "jostle.Echo/Say", proto = "{REFERENCE_PROTO}", '
        f'message.text = "{name}", expect.contains = "{name}", capture.{name} = "json:/text" }}'
        for name in ("first", "second", "third")
    )
    journey = tmp_path / "three.toml"
    journey.write_text(f"[journey.three]\nsteps = [{{ parallel = [{steps}] }}]")
    words = [python_with_grpc(tmp_path), "-c", TOGETHER]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = f"http://127.0.0.1:{int(process.stdout.readline())}"
            shown = jostle_command("hit", url, "--journey", journey, "-n", "5", "-c", "1", "--json")
        finally:
            process.terminate()
    result = as_json(shown)
    assert outcomes(result) == {"ok": 15}
    assert result["journeys"][0]["completed"] == 5


def test_a_plan_compares_contestants_that_are_started_here(jostle_command: Jostle, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(f"""
title = "echo"
contestants = ["go-grpc", "python-grpc"]
rounds = 1
repeats = false
[workload.say]
request = {{ grpc = "roster.Echo/Say", proto = "{ROSTER_PROTO}", message.text = "x", expect.contains = "x" }}
load = {{ clients = 4, requests = 40 }}
connection.http2.connections = 2
[workload.count]
request = {{ grpc = "roster.Echo/Count", proto = "{ROSTER_PROTO}", message = {{ n = 4, gap_ms = 5 }} }}
load = {{ clients = 4, requests = 20 }}
""")
    finished = jostle_command("run", plan, "--no-pages", "--json", "--into", tmp_path / "out", timeout=250)
    trials = as_json(finished)["trials"]
    found = sorted((trial["contestant"], trial["workload"], trial["outcomes"]["ok"]) for trial in trials)
    assert found == [
        (name, workload, count)
        for name in ("go-grpc", "python-grpc")
        for workload, count in (("count", 20), ("say", 40))
    ]
    assert all(trial["outcomes"].keys() == {"ok"} for trial in trials)


def test_servers_that_do_not_speak_grpc_are_told(jostle_command: Jostle, reference: str) -> None:
    call = ["jostle.Echo/Say", "--proto", REFERENCE_PROTO, "-c", "1", "-n", "2"]
    with reference_server("null") as url:
        shown = jostle_command("hit", f"{url.replace('http', 'grpc')}/{call[0]}", *call[1:]).stdout
    assert "does not answer in gRPC here: Content-Type" in " ".join(shown.split())
    finished = jostle_command("hit", f"{reference}/jostle.Echo/Sy", *call[1:])
    assert finished.returncode == 2
    assert "did you mean 'jostle.Echo/Say'" in finished.stderr
