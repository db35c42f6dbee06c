"""A cluster of hosts that are namespaces. It takes root; without it these tests are skipped, and say so."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cluster.lab import Host, Lab, laboratory
from support.real import REFERENCE

JOSTLE = [sys.executable, "-m", "jostle"]

HEALTH_CHECK = {"RAY_health_check_failure_threshold": "3"}
"""The head gives a silent node up after 9 s, not 18: so much shorter may a test cut it off."""


class Cluster:
    """A head, which is where the driver runs too, generators n1, n2, …, and a server beside them."""

    def __init__(self, lab: Lab, generators: int) -> None:
        self.lab = lab
        self.head = lab.host("head")
        self.generators = [lab.host(f"n{number + 1}") for number in range(generators)]
        self.server = lab.host("server")
        self.address = f"{self.head.address}:6379"
        self.url = f"http://{self.server.load_address}:8080"
        self.secrets = lab.folder / "secrets"
        names = [f"{host.name}={host.address}" for host in (self.head, *self.generators)]
        subprocess.run([*JOSTLE, "cluster", "init", self.secrets, *names], check=True, capture_output=True)

    def start_head(self) -> None:
        started = self.head.run(*JOSTLE, "cluster", "start", "--ip", self.head.address, env=HEALTH_CHECK)
        assert started.returncode == 0, started.stdout + started.stderr

    def start_node(self, host: Host, env: dict[str, str] | None = None) -> None:
        join = ("--join", self.address)
        for _ in range(3):  # Ray itself gives up after 30 s, which a busy machine may need
            started = host.run(*JOSTLE, "cluster", "start", "--ip", host.address, *join, env=env)
            if started.returncode == 0:
                return
            host.run(*JOSTLE, "cluster", "stop")
        pytest.fail(f"{host.name} did not start: {started.stdout}{started.stderr}")

    def start_nodes(self, **env: dict[str, str]) -> None:
        """All at once; `env` by the host's name."""
        with ThreadPoolExecutor(2) as pool:
            for started in [pool.submit(self.start_node, h, env.get(h.name)) for h in self.generators]:
                started.result()

    def driver(self, *words: str | Path, env: dict[str, str] | None = None) -> "subprocess.Popen[str]":
        """jostle on the head, in the cluster."""
        cluster = ("--cluster", self.address, "--allow-target", self.server.load_address)
        return subprocess.Popen(
            self.head.command(*JOSTLE, *words, *cluster, env=env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def serve(self, *kind: str, port: int = 8080) -> None:
        """Until the end of the lab."""
        address = ("--host", self.server.load_address, "--port", str(port))
        process = subprocess.Popen(
            self.server.command(
                "bash", "-c", 'ulimit -n $(ulimit -Hn); exec "$@"', "-", REFERENCE, *kind, *address
            ),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline().startswith("listening")


@pytest.fixture(scope="module", autouse=True)
def _namespaces() -> None:
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED: the cluster. Network namespaces take root: run `sudo make test`")
    asked = ("unshare", "--net", "--mount", "--uts", "--pid", "--time", "--fork", "--mount-proc")
    tried = subprocess.run([*asked, "ip", "link", "add", "type", "veth"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"NOT TESTED: the cluster. This root may not make namespaces: {tried.stderr.strip()}")


@pytest.fixture(scope="module")
def lab(_namespaces: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with laboratory(tmp_path_factory.mktemp("lab")) as made:
        yield made


def recording(driver: "subprocess.Popen[str]", base: Path, timeout_s: float = 90.0) -> Path:
    """The trial that `driver` is recording under `base`, as soon as it has something."""
    give_up = time.monotonic() + timeout_s
    while time.monotonic() < give_up and driver.poll() is None:
        for path in base.glob("*/trials/*/intervals.ndjson"):
            if path.stat().st_size:
                return path.parent
        time.sleep(0.05)
    driver.kill()
    out, complaints = driver.communicate()
    pytest.fail(f"nothing was recorded within {timeout_s:g} s: {out}{complaints}")
