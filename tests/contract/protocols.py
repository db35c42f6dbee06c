"""What servers of HTTP/2 and gRPC must do beyond the contract: last, and be understood by another client."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from jostle import roster
from jostle.contestant import Server, find
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

ECHO = Path(roster.__file__).parent / "shared" / "grpc" / "echo.proto"


def lasts_over_http2(server: Server) -> None:
    load = ["--http2-connections", "1", "-c", "20", "-n", str(LONG)]
    assert outcomes(f"{server.url}/hello", *load) == {"ok": LONG}


def calls_of_grpcio(folder: Path) -> list[str | Path]:
    """A command that calls each method of the server at its argument by Google's client, made in `folder`."""
    (folder / "client.py").write_text(CLIENT)
    python = find("python-grpc").build() / "venv" / "bin" / "python"  # type: ignore[operator]
    outputs = [f"--python_out={folder}", f"--grpc_python_out={folder}"]
    subprocess.run([python, "-m", "grpc_tools.protoc", f"-I{ECHO.parent}", *outputs, ECHO.name], check=True)
    return [python, folder / "client.py"]


def is_understood_by(grpcio: Sequence[str | Path], server: Server) -> None:
    """`grpcio`: of `calls_of_grpcio`."""
    called = subprocess.run([*grpcio, f"{server.host}:{server.port}"], capture_output=True, text=True)
    assert (called.stdout, called.stderr) == ("hällo 7\n1 2 3\none two\nINVALID_ARGUMENT\n", "")


def is_understood_by_jostle(server: Server) -> None:
    for method, options in CALLS.items():
        url = f"grpc://{server.host}:{server.port}/roster.Echo/{method}"
        load = ["--http2-connections", "2", "-c", "20", "-n", "200"]
        assert outcomes(url, "--proto", ECHO, *options, *load) == {"ok": 200}, method


def describes_itself(server: Server) -> None:
    """No file is needed."""
    url = f"grpc://{server.host}:{server.port}/roster.Echo/Say"
    say = ["--message", '{"text": "hällo"}', "--expect", "hällo"]
    assert outcomes(url, *say, "-n", "20") == {"ok": 20}


def outcomes(*words: str | Path) -> dict[str, int]:
    result = as_json(subprocess.run(command("hit", *words, "--json"), capture_output=True, text=True))
    found: dict[str, int] = result["trials"][0]["outcomes"]
    return found
