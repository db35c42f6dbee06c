"""Contestants of HTTP/2 and gRPC: connections last; methods are called by jostle and by another client."""

import subprocess
from pathlib import Path

import pytest

from jostle import roster
from jostle.contestant import find
from support.contestants import FILES
from support.real import as_json, command

CLIENT = """
import sys, grpc
from echo_pb2 import Schedule, Words
from echo_pb2_grpc import EchoStub
with grpc.insecure_channel(sys.argv[1]) as channel:
    echo = EchoStub(channel)
    words = echo.Say(Words(text="hällo", number=7))
    print(words.text, words.number)
    print(*(words.number for words in echo.Count(Schedule(n=3, gap_ms=1))))
    print(*(words.text for words in echo.Talk(iter([Words(text="one"), Words(text="two")]))))
    try:
        list(echo.Count(Schedule(n=-1)))
    except grpc.RpcError as error:
        print(error.code().name)
"""

CALLS = {
    "Say": ["--message", '{"text": "hällo"}', "--expect", '"text":"hällo"'],
    "Count": ["--message", '{"n": 5, "gap_ms": 1}', "--stream-events", "5"],
    "Talk": ["--message", '[{"number": 1}, {"number": 2}]', "--every", "1ms"],
}
"""Methods of echo.proto, with what `jostle hit` is told for each."""

LONG = 12_000
"""Requests on a connection: several servers limit frames or requests by default."""

HTTP2 = [name for name in FILES if "HTTP/2" in FILES[name].speaks and not name.startswith("reference-")]
GRPC = [name for name in FILES if "gRPC" in FILES[name].speaks]
ECHO = Path(roster.__file__).parent / "shared" / "grpc" / "echo.proto"


@pytest.mark.parametrize("name", HTTP2)
def test_a_connection_of_http2_lasts(name: str) -> None:
    with find(name).start() as server:
        load = ["--http2-connections", "1", "-c", "20", "-n", str(LONG)]
        words = command("hit", f"{server.url}/hello", *load, "--json")
        result = as_json(subprocess.run(words, capture_output=True, text=True))
    assert result["trials"][0]["outcomes"] == {"ok": LONG}


@pytest.fixture(scope="session")
def grpcio(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    """A command that calls each method of the server at its argument, by Google's own client."""
    folder = tmp_path_factory.mktemp("grpcio")
    (folder / "client.py").write_text(CLIENT)
    python = find("python-grpc").build() / "venv" / "bin" / "python"  # type: ignore[operator]
    outputs = [f"--python_out={folder}", f"--grpc_python_out={folder}"]
    subprocess.run([python, "-m", "grpc_tools.protoc", f"-I{ECHO.parent}", *outputs, ECHO.name], check=True)
    return [python, folder / "client.py"]


@pytest.mark.parametrize("name", GRPC)
def test_every_method_is_called_by_another_client(name: str, grpcio: list[str | Path]) -> None:
    with find(name).start() as server:
        words = [*grpcio, f"{server.host}:{server.port}"]
        called = subprocess.run(words, capture_output=True, text=True)
    assert (called.stdout, called.stderr) == ("hällo 7\n1 2 3\none two\nINVALID_ARGUMENT\n", "")


@pytest.mark.parametrize("name", GRPC)
def test_every_method_is_called_by_jostle(name: str) -> None:
    with find(name).start() as server:
        for method, options in CALLS.items():
            url = f"grpc://{server.host}:{server.port}/roster.Echo/{method}"
            load = ["--http2-connections", "2", "-c", "20", "-n", "200", "--json"]
            words = command("hit", url, "--proto", ECHO, *options, *load)
            result = as_json(subprocess.run(words, capture_output=True, text=True))
            assert result["trials"][0]["outcomes"] == {"ok": 200}, method


@pytest.mark.parametrize("name", GRPC)
def test_no_file_is_needed_where_a_server_describes_itself(name: str) -> None:
    with find(name).start() as server:
        url = f"grpc://{server.host}:{server.port}/roster.Echo/Say"
        words = command(
            "hit", url, "--message", '{"text": "hällo"}', "--expect", "hällo", "-n", "20", "--json"
        )
        result = as_json(subprocess.run(words, capture_output=True, text=True))
    assert result["trials"][0]["outcomes"] == {"ok": 20}
