"""What the driver of a cluster costs: many simulated generators, each with an interval a second.

    python bench/driver.py [GENERATORS] [SECONDS]

The driver is the real one, with its merging, its copies of the logs and its record; only the generators are
not there: their frames were made before, by a real engine. What Ray takes to carry them is not in the figure.
"""

import heapq
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from servers import reference

from jostle.generator.api import Generator
from jostle.generator.cluster.clocks import Clock
from jostle.generator.cluster.fleet import Fleet
from jostle.generator.cluster.follower import Follower
from jostle.generator.cluster.lease import LeaseTimes
from jostle.generator.cluster.spool import Spool
from jostle.generator.cluster.transport import Node
from jostle.generator.inprocess import InProcessExecutor
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.plan.hit.plan import hit_plan
from jostle.record import FORMAT, RunWriter

SECOND_NS = 10**9


class Simulated:
    """Generators that give the n-th frame at second n; a question is (when it is answered, whose, which)."""

    def __init__(self, frames: Sequence[bytes], generators: int) -> None:
        self.frames = frames
        self.offsets = [0, *itertools.accumulate(map(len, frames))]
        self.started = time.monotonic()
        self._due: list[tuple[float, int, int]] = []
        self._generators = generators

    def remote(self, index: int) -> "SimulatedGenerator":
        return SimulatedGenerator(self, index)

    def poll(self, index: int, offset: int) -> tuple[float, int, int]:
        """Answered when the next frame is due, spread over the second as real ones are not."""
        number = self.offsets.index(offset)
        asked = (self.started + number + 1 + index / self._generators / 10, index, number)
        heapq.heappush(self._due, asked)
        return asked

    def wait(self, calls: Sequence[Any], timeout_s: float) -> Sequence[Any]:
        del calls
        first = self._due[0][0] if self._due else time.monotonic() + timeout_s
        time.sleep(max(0.0, min(timeout_s, first - time.monotonic())))
        ready = []
        while self._due and self._due[0][0] <= time.monotonic():
            ready.append(heapq.heappop(self._due))
        return ready

    def response(self, call: Any, timeout_s: float | None = None) -> Any:
        del timeout_s
        _, _, number = call
        return {"state": "running", "why": "", "data": self.frames[number]}

    def nodes(self) -> Sequence[Node]:
        return []

    def place(self, node: Node) -> "SimulatedGenerator":
        raise NotImplementedError(node)

    def read(self, node: Node, log: str, offset: int) -> Iterator[bytes]:
        raise NotImplementedError(node, log, offset)

    def forget(self, node: Node, log: str) -> None: ...

    def end(self, remote: Any) -> None: ...

    def head_is_gone(self) -> bool:
        return False


class SimulatedGenerator:
    def __init__(self, network: Simulated, index: int) -> None:
        self.node = Node(f"simulated-{index}", str(index))
        self._network, self._index = network, index

    def call(self, method: str, *arguments: Any) -> Any:
        assert method == "poll"
        return self._network.poll(self._index, arguments[0])


def real_frames(seconds: int) -> tuple[dict[str, Any], list[bytes], float]:
    """The specification, a frame for every second, and their mean size: of a load with a spread of times."""
    with reference("workers", "--workers", "64") as address, tempfile.TemporaryDirectory() as folder:
        path = "/sleep?ms=20&jitter=0.9"
        plan = hit_plan(f"http://{address}{path}", {"rate": 500, "seconds": seconds, "clients": 200})
        host, port = address.split(":")
        spec = engine_spec("hit", plan.workload["hit"], Address(host=host, port=int(port)), seed=1)
        spec["interval_ns"] = SECOND_NS
        running, frames, last = InProcessExecutor().start(spec), [], False
        while not last:
            interval = running.next_interval(5.0)
            assert interval is not None
            last = interval["last"]
            log = Spool(Path(folder) / str(len(frames)))
            log.append(interval)
            log.close()
            frames.append(log.path.read_bytes())
    return spec, frames, sum(map(len, frames)) / len(frames)


def main(generators: int, seconds: int) -> None:
    spec, frames, size = real_frames(seconds)
    network = Simulated(frames, generators)
    clock = Clock(0, 0, 0)
    followers = [Follower(i, f"log-{i}", network.remote(i), clock) for i in range(generators)]
    named = [Generator(i + 1, generators, 0, time.time_ns()) for i in range(generators)]
    fleet = Fleet(network, followers, [spec] * generators, named, time.time_ns(), "is missing", LeaseTimes())
    with tempfile.TemporaryDirectory() as folder:
        run = RunWriter.create(Path(folder), "bench", "", {})
        names = {"number": 1, "contestant": "simulated", "workload": "w", "round": 1}
        trial = run.trial({"format": FORMAT, **names, "engine": spec})
        fleet.save_logs_to(trial.folder)
        wall, cpu, last = time.monotonic(), time.process_time(), False
        while not last:
            interval = fleet.next_interval(0.1)
            if interval is not None:
                trial.write_interval(interval)
                last = interval["last"]
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        trial.finish("ended")
    said = {"generators": generators, "bytes per report": round(size), "seconds": round(wall, 1)}
    print(json.dumps({**said, "driver, share of a core": round(cpu / wall, 3)}))


if __name__ == "__main__":
    main(*[int(word) for word in [*sys.argv[1:], "200", "20"][:2]])
