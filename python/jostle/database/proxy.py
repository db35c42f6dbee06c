"""The proxy that makes a database seem far away. It runs under a supervisor of its own."""

import shutil
from pathlib import Path

from jostle.contestant.tools import REFERENCE
from jostle.errors import MissingRuntime
from jostle.host import ports
from jostle.host.supervised import NotReady, Scratch, SupervisedProcess, Task, start_until_ready
from jostle.host.users import User

__all__ = ["DelayProxy"]

READY_S = 10.0


class DelayProxy:
    """Listens on loopback, forwards to host:port, and delays each response.

    Raises `MissingRuntime`, `StartFailed`.
    """

    def __init__(self, host: str, port: int, delay_ms: float) -> None:
        if not REFERENCE.is_file():
            raise MissingRuntime(f"{REFERENCE} is missing", "install jostle again, or run scripts/setup.sh")
        user = User.of("nobody")
        self.port = ports.claim(0)
        scratch = Scratch.create("delay", user)
        program = shutil.copy2(REFERENCE, scratch.folder)  # all users may run it there
        command = [str(program), "delay-proxy", "--port", str(self.port), "--host", ports.HOST]
        task = Task(
            command=[*command, "--to", f"{host}:{port}", "--delay-ms", str(delay_ms)],
            folder=Path("/"),
            env={"TMPDIR": str(scratch.tmp)},
            output=scratch.output,
            user=user,
            scratch=scratch,
        )
        self.process, _ = start_until_ready(
            "the delay proxy of the database", task, _see_listening, timeout_s=READY_S
        )

    def alive(self) -> bool:
        return self.process.alive()

    def stop(self) -> None:
        self.process.stop()


def _see_listening(process: SupervisedProcess, _left_s: float) -> None:
    if "listening on" not in process.output():
        raise NotReady("it does not say that it listens")
