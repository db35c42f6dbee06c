"""curl commands for tests: the bundled ones, and what the real curl or jostle sends for them."""

import contextlib
import os
import re
import shlex
import shutil
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jostle.generator.inprocess import InProcessExecutor
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.plan import Plan
from jostle.plan.hit.plan import hit_plan
from jostle.url import host_and_port

__all__ = [
    "VARIABLES",
    "Recorder",
    "commands",
    "comparable",
    "files_in",
    "recording",
    "sent_by_curl",
    "sent_by_jostle",
]

DATA = Path(__file__).parents[1] / "data" / "curl"
VARIABLES = {
    "DO_API_TOKEN": "t0k3n",
    "MYVARIABLE": "some text",
    "FILENAME": "x",
    "TOKEN": "abc",
    "NAME": "n",
}
"""Values of the variables in the commands."""


def commands() -> dict[str, str]:
    """Texts with one or more commands, by name."""
    found: dict[str, str] = {}
    for name in ("curlconverter", "own"):
        text = (DATA / f"{name}.txt").read_text(encoding="utf-8")
        blocks = re.split(r"^=== (.*)\n", text, flags=re.MULTILINE)[1:]
        found |= {f"{name}/{key}": block for key, block in zip(blocks[::2], blocks[1::2], strict=True)}
    return found


def files_in(folder: Path) -> None:
    """The files that the commands name."""
    png = bytes.fromhex("89504e470d0a1a0a0000ff00")
    texts = {
        "lines.txt": "one\r\ntwo=2 &\n\nthree\n",
        "body.json": '{\n  "a": "ü"\n}\n',
        "headers.txt": "X-One: 1\nX-Two: 2\n",
        "jar.txt": "# Netscape HTTP Cookie File\n"
        "localhost\tFALSE\t/\tFALSE\t0\tsid\tabc\n"
        "#HttpOnly_localhost\tFALSE\t/shop\tFALSE\t4102444800\tcart\t7\n"
        "localhost\tFALSE\t/\tFALSE\t1000\told\tx\n"
        "localhost\tFALSE\t/other\tFALSE\t0\tother\tx\n"
        "example.org\tTRUE\t/\tFALSE\t0\tforeign\tx\n",
        "cookies.txt": "localhost\tFALSE\t/\tFALSE\t0\ta\tb\n",
        "cookie.txt": "localhost\tFALSE\t/\tFALSE\t0\tc\td\n",
        "test/fixtures/curl_commands/delete.sh": "curl -X DELETE\n",
        **dict.fromkeys(
            ("add_params.xml", "file.txt", "my_file.txt", "new_file", "sample.sparql", "47.htz"), "a\nb\n"
        ),
        "input_redirected_file.txt": "input\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    for name in ("image.png", "image.jpg", "myfile.jpg"):
        (folder / name).write_bytes(png)


@dataclass
class Recorder:
    """Every request that came, as bytes, in order."""

    port: int
    requests: list[bytes] = field(default_factory=list)


class _Recording(socketserver.StreamRequestHandler):
    """Answers each request with an empty 200; a body ends by its length, or with its last chunk."""

    def handle(self) -> None:
        while head := self._head():
            if b"100-continue" in head:
                self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
            body = self.rfile.read(int(length[1])) if length else b""
            if re.search(rb"\r\ntransfer-encoding: *chunked", head, re.IGNORECASE):
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            self.server.recorder.requests.append(head + body)  # type: ignore[attr-defined]
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    def _head(self) -> bytes:
        lines = b""
        while (line := self.rfile.readline()) not in (b"\r\n", b""):
            lines += line
        return lines + line if line else b""


@contextlib.contextmanager
def recording() -> Iterator[Recorder]:
    """A server on a free port that records what it is sent."""

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        recorder: Recorder

    with Server(("127.0.0.1", 0), _Recording) as server:
        server.recorder = Recorder(server.server_address[1])
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.recorder
        server.shutdown()


def sent_by_curl(text: str, folder: Path, recorder: Recorder) -> list[bytes]:
    """What curl sends if a shell runs the text in `folder`; every host leads to the recorder."""
    real = shutil.which("curl")
    assert real is not None, "scripts/install-test-tools.sh installs curl"
    wrapper = folder / "bin" / "curl"
    wrapper.parent.mkdir(exist_ok=True)
    own = f"--silent --max-time 10 --connect-to ::127.0.0.1:{recorder.port}"
    wrapper.write_text(
        "#!/bin/bash\nwords=()\n"
        f'for word in "$@"; do words+=("$word"); [ "$word" = --next ] && words+=({own}); done\n'
        f'exec {shlex.quote(real)} {own} "${{words[@]}}"\n'
    )
    wrapper.chmod(0o755)
    recorder.requests.clear()
    environment = {
        **VARIABLES,
        "PATH": f"{wrapper.parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
    }
    subprocess.run(
        ["bash", "-c", text], cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL
    )
    return list(recorder.requests)


def sent_by_jostle(given: Any, recorder: Recorder, **options: Any) -> list[bytes]:
    """What one client of jostle sends for a command, each of its requests once."""
    recorder.requests.clear()
    plan = hit_plan(given, {"clients": 1, "connect_to": [f"127.0.0.1:{recorder.port}"], **options})
    workload = plan.workload["hit"]
    load = workload.load.model_copy(update={"requests": len(workload.request), "for_": None})
    spec = engine_spec("hit", workload.model_copy(update={"load": load}), _address(plan))
    running = InProcessExecutor().start(spec)
    while (interval := running.next_interval(10)) is not None and not interval["last"]:
        pass
    return list(recorder.requests)


def _address(plan: Plan) -> Address:
    host, port = host_and_port(plan.contestant[plan.contestants[0]].url)
    return Address(host=host, port=port)


def comparable(request: bytes) -> tuple[bytes, list[bytes], bytes]:
    """Request line, headers in the order of the alphabet, body.

    Without what differs from run to run: the boundary of a form, and the version of curl. Blanks around a
    header's value are not part of it (RFC 9110, section 5.5).
    """
    head, _, body = request.partition(b"\r\n\r\n")
    boundary = re.search(rb"boundary=(-{24}\w+)\s*$", head, re.MULTILINE)
    if boundary:
        head, body = (part.replace(boundary[1], b"BOUNDARY") for part in (head, body))
        head = re.sub(rb"(?i)(content-length): *\d+", rb"\1: ?", head)
    line, *headers = head.split(b"\r\n")
    split = (header.partition(b":") for header in headers)
    plain = [name + b": " + re.sub(rb"^curl/[\d.]+", b"curl/x", value.strip()) for name, _, value in split]
    return line, sorted(plain), body
