"""Fuzzes what Python reads of foreign bytes: every target for some seconds (60), or those that are named.

    python scripts/fuzz_python.py [SECONDS [TARGET…]]

Inputs are made from tests/corpus/TARGET by cutting, flipping, repeating, splicing and words of a dictionary.
Whatever the bytes are, a target ends within `TIME_S` of computing and `MEMORY_BYTES`, and fails with a
JostleError or not at all. An input for which this is not so is left in dist/fuzz, as TARGET-last where the
process itself has died of it; when its defect is mended it goes into the corpus, which
tests/unit/test_fuzz_corpus.py runs.
"""

import contextlib
import hashlib
import itertools
import json
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from jostle.errors import JostleError, NotARun

__all__ = ["CORPUS", "TARGETS", "check"]

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "corpus"
FOUND = ROOT / "dist" / "fuzz"
TIME_S, MEMORY_BYTES = 10, 4 << 30

DICTIONARY = [
    b"\0", b"\xff", b"\xed\xa0\x80", b"\x1b[2J", b"\n", b"\r\n", b'"', b"{", b"}", b",", b"=", b".", b"[[",
    b"[" * 2000, b'{"a":' * 2000, b'"""', b"null", b"true", b"nan", b"NaN", b"inf", b"Infinity", b"-1", b"0",
    b"1e999", b"9" * 5000, b"9223372036854775808", b"18446744073709551616", b"1979-05-27T07:32:00Z",
    b"]]", b"\\ud800", b"../", b"/dev/zero", b"{{", b"}}", b"```", b"`", b"[Asserts]", b"HTTP 200\n", b"GET http://a/",
]  # fmt: skip


@contextlib.contextmanager
def _file(name: str, data: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        yield path


def intervals(data: bytes) -> None:
    """intervals.ndjson."""
    from jostle.analysis.trials.counters import Counts
    from jostle.record.interval_line import IntervalEntry
    from jostle.record.jsonl import read_objects

    with _file("intervals.ndjson", data) as path:
        Counts.of(read_objects(path, IntervalEntry))


def histograms(data: bytes) -> None:
    """intervals.hlog."""
    from jostle.analysis.stats.sample import from_histograms
    from jostle.histogram import Histogram
    from jostle.record.hlog import read_entries

    with _file("intervals.hlog", data) as path:
        for entry in read_entries(path, lambda *_: True):
            whole = Histogram()
            whole.add(entry.decode())
            from_histograms([whole])


def journal(data: bytes) -> None:
    """journal.ndjson, its lines with checksums and without."""
    from jostle.record.journal import read_journal

    with _file("journal.ndjson", data) as path:
        for checked in (True, False):
            read_journal(path, checked=checked)


def described(data: bytes) -> None:
    """trial.json, outcome.json, host.json, accounts.json: each as all of them."""
    from jostle.record.jsonl import read_object
    from jostle.record.layout import HostFacts, Ledger, OutcomeEntry, TrialDescription

    with _file("trial.json", data) as path:
        for kind in (TrialDescription, OutcomeEntry, HostFacts, Ledger):
            with contextlib.suppress(JostleError):
                read_object(path, kind)


def samples(data: bytes) -> None:
    """server.ndjson."""
    from jostle.analysis.trials.resource_usage import ResourceUsage
    from jostle.record.jsonl import read_objects
    from jostle.record.layout import ResourceSample

    with _file("server.ndjson", data) as path:
        ResourceUsage.of(read_objects(path, ResourceSample))


def rows(data: bytes) -> None:
    """requests-00001.npz."""
    from jostle.record.rows import read_rows

    with _file("requests-00001.npz", data) as path:
        read_rows(path.parent, ["request", "intended_ns", "sent_ns", "end_ns", "outcome"], at_most=1000)


def parquet(data: bytes) -> None:
    """requests-00001.parquet, of a run of an earlier version."""
    from jostle.record.rows import read_rows

    with _file("requests-00001.parquet", data) as path:
        try:
            read_rows(path.parent, ["intended_ns", "sent_ns", "end_ns", "outcome"], at_most=1000)
        except NotARun as error:
            # In a process of its own, with a limit of its own.
            if "SIGXCPU" in str(error):
                raise TooLong from None
            raise


def recorded_plan(data: bytes) -> None:
    """plan.toml of a run: what it does not understand, it leaves out."""
    from jostle.plan.recorded import RecordedPlan

    RecordedPlan.parse(data.decode("utf-8", "replace"))


def plan(data: bytes) -> None:
    """A plan of one's own."""
    from jostle.plan import parse_plan

    parse_plan(data.decode("utf-8", "replace"), "plan.toml")


def hurl(data: bytes) -> None:
    """A Hurl file as a journey."""
    from jostle.plan.journeys.hurl import journey_of

    journey_of(data.decode("utf-8", "replace"), Path())


def contestant(data: bytes) -> None:
    """A contestant.toml."""
    from jostle.plan.servers.contestant import ContestantFile

    with _file("contestant.toml", data) as path:
        ContestantFile.load(path)


def frames(data: bytes) -> None:
    """A generator's spool, whole and in pieces."""
    from jostle.generator.cluster.spool import FrameReader

    for size in (len(data) or 1, 7):
        reader = FrameReader()
        with contextlib.suppress(ValueError):
            for at in range(0, len(data), size):
                reader.add(data[at : at + size])


def ledger(data: bytes) -> None:
    """The copy of a spool in a trial's folder."""
    from jostle.generator.cluster.ledger import read_ledger

    entry = {"generator": 1, "host": "10.0.0.1", "log": "x", "from_ns": 0, "copy": "1.frames"}
    with _file("1.frames", data) as path:
        (path.parent / "streams.ndjson").write_text(json.dumps(entry) + "\n")
        read_ledger(path.parent)


def encoded(data: bytes) -> None:
    """Histograms of generators, as the engine merges them."""
    from jostle._engine import merge_v2

    with contextlib.suppress(ValueError):
        merge_v2([data, data])


def readiness(data: bytes) -> None:
    """What a server answers to the readiness question, as far as it is recorded."""
    from jostle.contestant.server import Server, _json_object

    told = Server("s", "127.0.0.1", 80, None, response=_json_object(data))
    json.dumps([told.text(key) for key in ("version", "runtime", "name")], ensure_ascii=False).encode()


def index(data: bytes) -> None:
    """index.ndjson beside the runs."""
    from jostle.analysis.history import history

    with _file("index.ndjson", data) as path:
        history(path.parent)


RUN = ROOT / "tests" / "data" / "run-format-1"
"""Of the format without checksums: what is damaged is not noticed by them."""


def whole_run(data: bytes) -> None:
    """A run folder in which one file is this; its name stands in the first line. All forms of its report."""
    import shutil

    from jostle.analysis.run import analyse
    from jostle.record import RunRecord
    from jostle.report import Form, document_of, render

    name, _, content = data.partition(b"\n")
    names = {str(path.relative_to(RUN)) for path in RUN.rglob("*") if path.is_file()}
    chosen = name.decode("ascii", "replace")
    with _file("unused", b"") as place:
        folder = place.with_name("run")
        shutil.copytree(RUN, folder)
        if chosen in names:
            (folder / chosen).write_bytes(content)
        result = analyse(RunRecord.open(folder))
        document = document_of(result, full=True)
        for form in (Form.text, Form.md, Form.json, Form.csv, Form.junit):
            text = render(document, form)
            text.encode()
            assert "\x1b" not in text, form


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__.replace("_", "-"): target
    for target in (
        intervals, histograms, journal, described, samples, rows, parquet, recorded_plan, plan, hurl,
        contestant, frames, ledger, encoded, readiness, index, whole_run,
    )
}  # fmt: skip


class TooLong(Exception):
    """The target did not end in time."""


def check(target: str, data: bytes) -> str:
    """What is wrong with how the target takes the input; "" when nothing is."""

    def ring(_: int, __: FrameType | None) -> None:
        raise TooLong

    # In time of computing: beside other fuzzers a target waits for its core.
    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, TIME_S)
    try:
        TARGETS[target](data)
    except JostleError as error:
        printable = all(line.isprintable() for line in str(error).split("\n"))
        return "" if printable else f"unprintable: {error!r}"
    except TooLong:
        return f"more than {TIME_S} s of computing"
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return ""


def mutated(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """One to four changes."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(9):
            case 0:
                data = data[:at]
            case 1 if data:
                at %= len(data)
                data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
            case 2:
                data = data[:at] + rng.choice(DICTIONARY) + data[at:]
            case 3:
                end = rng.randrange(at, len(data) + 1)
                data = data[:at] + data[end:]
            case 4:
                end = min(len(data), at + rng.randrange(200))
                data = data[:at] + data[at:end] * rng.choice((2, 3, 50)) + data[end:]
            case 5:
                other = rng.choice(others)
                data = data[:at] + other[rng.randrange(len(other) + 1) :]
            case 6:
                data = data[:at] + struct.pack("<q", rng.choice((-1, 0, 1 << 31, 1 << 62))) + data[at + 8 :]
            case 7:
                lines = data.splitlines(keepends=True)
                rng.shuffle(lines)
                data = b"".join(lines)
            case _:
                words = data.split(b'"')
                if len(words) > 2:
                    words[rng.randrange(len(words))] = rng.choice(DICTIONARY)
                data = b'"'.join(words)
    return data[: 1 << 20]


def fuzz(target: str, seconds: float) -> int:
    """How many inputs were tried; leaves with those that failed."""
    corpus = [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]
    rng = random.Random(time.time_ns())
    end = time.monotonic() + seconds
    FOUND.mkdir(parents=True, exist_ok=True)
    last = FOUND / f"{target}-last"
    for count in itertools.count(1):
        data = mutated(rng.choice(corpus), corpus, rng)
        last.write_bytes(data)
        if wrong := check(target, data):
            path = last.rename(FOUND / f"{target}-{hashlib.sha256(data).hexdigest()[:10]}")
            raise SystemExit(f"fuzz: {target} failed for {path}\n{wrong}")
        if time.monotonic() > end:
            last.unlink()
            return count
    raise AssertionError("unreachable")


def main(words: list[str]) -> None:
    seconds = float(words[0]) if words else 60.0
    names = words[1:] or list(TARGETS)
    if unknown := set(names) - set(TARGETS):
        raise SystemExit(f"fuzz: no target is called {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    for name in names:
        before = time.process_time()
        count = fuzz(name, seconds)
        computed = time.process_time() - before
        print(f"fuzz {name}: {count:,} inputs in {computed:,.0f} s of computing, nothing found", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
