"""Machines that are namespaces: each host has its own network, processes, clock and /tmp/ray, and can be cut
off or switched off. Their bridges are in namespaces too: this machine gets no address, and nothing can leave.

Every host has two cables: `control` (10.213.7.N), which can be cut, and `load` (10.213.8.N), by which
generators reach the server.
"""

import contextlib
import itertools
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

CABLES = {"control": "10.213.7", "load": "10.213.8"}
HEAP_OF_ZEROS = "while :; do sleep 1000 & wait; done"


class Host:
    """One machine. Its disk is a folder; it survives being switched off."""

    def __init__(self, lab: "Lab", name: str, number: int) -> None:
        self.name = name
        self.address = f"{CABLES['control']}.{number}"
        self.load_address = f"{CABLES['load']}.{number}"
        self.disk = lab.folder / name
        self.disk.mkdir()
        self._lab = lab
        self._number = number
        self._namespace = f"{lab.prefix}-{name}"
        self._init = 0

    def plug_in(self) -> None:
        ip("netns", "add", self._namespace)
        ip("-n", self._namespace, "link", "set", "lo", "up")
        for number, (cable, net) in enumerate(CABLES.items()):
            switch, port, card = f"{self._lab.prefix}-{cable}", f"v-{self.name}", f"eth{number}"
            pair = ("type", "veth", "peer", "name", card, "netns", self._namespace)
            ip("link", "add", port, "netns", switch, *pair)
            ip("-n", switch, "link", "set", port, "master", "br0", "up")
            ip("-n", self._namespace, "addr", "add", f"{net}.{self._number}/24", "dev", card)
            ip("-n", self._namespace, "link", "set", card, "up")

    def boot(self) -> None:
        """Switch it on. Its monotonic clock is far from everybody else's."""
        script = (
            f"hostname {self.name}; mount -t tmpfs tmpfs /dev/shm; mkdir -p /tmp/ray; "
            f"mount -t tmpfs tmpfs /tmp/ray; echo up; trap '' HUP; {HEAP_OF_ZEROS}"
        )
        process = subprocess.Popen(
            ["ip", "netns", "exec", self._namespace, "unshare", "--mount", "--uts", "--pid", "--time",
             "--monotonic", str(1000 * self._number), "--fork", "--mount-proc", "--kill-child",
             "bash", "-c", script],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.stdout.close()
        self._process = process
        self._init = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])

    def power_off(self) -> None:
        """All at once and without a word: the cable goes first."""
        self.cut()
        os.kill(self._init, 9)
        self._process.wait(60)
        self._init = 0

    def cut(self) -> None:
        ip("-n", f"{self._lab.prefix}-control", "link", "set", f"v-{self.name}", "down")

    def heal(self) -> None:
        ip("-n", f"{self._lab.prefix}-control", "link", "set", f"v-{self.name}", "up")

    def command(self, *words: str | Path, env: Mapping[str, str] | None = None) -> list[str]:
        """To be run from here, runs there."""
        settings = {
            "JOSTLE_CACHE": str(self.disk / "cache"),
            "JOSTLE_CLUSTER": str(self._lab.folder / "secrets" / self.name),
            "NO_COLOR": "1",
            "COLUMNS": "100",
            **(env or {}),
        }
        inside = ["nsenter", "-t", str(self._init), "-m", "-u", "-p", "-n", "-T", f"--wdns={self.disk}"]
        return [*inside, "env", *(f"{key}={value}" for key, value in settings.items()), *map(str, words)]

    def run(
        self, *words: str | Path, env: Mapping[str, str] | None = None, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words, env=env), capture_output=True, text=True, timeout=timeout, check=False
        )

    def stay_on(self, core: int) -> None:
        """Everything that runs there, and what that starts: hosts do not share cores."""
        every = f'for process in /proc/[0-9]*; do taskset -acp {core} "${{process#/proc/}}"; done'
        self.run("bash", "-c", every)

    def unplug(self) -> None:
        if self._init:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._init, 9)
            self._process.wait(60)
        subprocess.run(["ip", "netns", "del", self._namespace], check=False, capture_output=True)


class Lab:
    """All hosts and the two switches."""

    numbers = itertools.count(10)

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prefix = f"jl{os.getpid()}"
        self.hosts: dict[str, Host] = {}

    def host(self, name: str) -> Host:
        self.hosts[name] = Host(self, name, next(self.numbers))
        self.hosts[name].plug_in()
        self.hosts[name].boot()
        return self.hosts[name]


@contextlib.contextmanager
def laboratory(folder: Path) -> Iterator[Lab]:
    """Nothing of it is left afterwards, whatever happens."""
    lab = Lab(folder)
    switches = [f"{lab.prefix}-{cable}" for cable in CABLES]
    try:
        for switch in switches:
            ip("netns", "add", switch)
            ip("-n", switch, "link", "add", "br0", "type", "bridge")
            ip("-n", switch, "link", "set", "br0", "up")
        yield lab
    finally:
        for host in lab.hosts.values():
            host.unplug()
        for switch in switches:
            subprocess.run(["ip", "netns", "del", switch], check=False, capture_output=True)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def until(holds: object, what: str, timeout_s: float = 60.0) -> None:
    """Wait until `holds()` is true; fail with `what`."""
    assert callable(holds)
    give_up = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < give_up, f"{what}: not within {timeout_s:g} s"
        time.sleep(0.1)
