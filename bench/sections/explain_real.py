"""What `jostle explain` says of real reference servers, whose behaviour is exact: right, "cannot tell", or
wrong. Over real sockets, with real requests; on an idle machine some 30 minutes."""

import math
from collections import Counter
from dataclasses import dataclass

from rows import Effort, Row, Section
from servers import reference

import jostle
from jostle.analysis.results import Estimate
from jostle.explain.discipline.candidates import Family
from jostle.explain.finding import Topic
from jostle.explain.results import Explanation

REPEATS = 3
"""Of each discipline; each signature is asked once."""

BUDGET_S, QUICK_S = 40.0, 20.0
NOT_WRONG_BAR, DECIDED_BAR = 0.95, 0.85
SLOW = ["/work?us=43000", "/work?us=21700", "/work?us=11300", "/work?us=5700"]
WAIT = "/sleep?ms=60"


@dataclass(frozen=True)
class Known:
    """`family`: None where none may be told. `signature`: what else it does, and between which numbers a
    figure, or some part of its interval, must lie."""

    arguments: str
    family: Family | None
    workers: int = 1
    signature: tuple[Topic, str, float, float] | None = None
    overload: bool = False


SERVERS = [
    *(Known(f"workers --workers {c}", Family.FIRST_COME, c) for c in (1, 2, 4, 8)),
    Known("run-to-completion", Family.FIRST_COME),
    *(Known(f"processor-sharing --cores {c}", Family.SHARING, c) for c in (1, 2, 4)),
    *(Known(f"round-robin --cores 1 --slice-us {q}", Family.SHARING) for q in (1000, 10000)),
    Known("newest-first --cores 1 --slice-us 10000", Family.SHARING),
    Known("watchdog --cores 1 --slice-us 10060", Family.WATCHDOG),
    Known("gated-slot", Family.GATED_SLOT),
    Known("gated-by-timer --cores 1 --slice-us 20100", Family.GATED_ANSWERS),
    Known("shared-queues --workers 2 --slice-us 3000", Family.SHARED_QUEUES, 2),
    Known("least-attained --cores 1 --slice-us 500", Family.LEAST_ATTAINED),
    *(Known(f"lifo --workers {c}", Family.LAST_COME, c) for c in (1, 4)),
    *(Known(f"random-order --workers {c}", Family.RANDOM_ORDER, c) for c in (1, 3)),
    Known("gated-lifo", Family.GATED_LAST_COME),
    Known("own-queues --workers 2 --assignment in-turn", Family.OWN_QUEUES, 2),
    Known("locked-threads --workers 2 --threads 3 --slice-us 5000", Family.LOCKED_THREADS, 2),
    Known("gated-answers --cores 1 --slice-us 15000", Family.GATED_ANSWERS),
]
SIGNATURES = [
    Known("workers --pool 3", Family.FIRST_COME, 2, (Topic.SLOTS, "slots", 3, 3)),
    Known("workers --pause 1s:80ms", Family.FIRST_COME, 2, (Topic.PAUSES, "every", 0.9, 1.1)),
    Known("workers --bucket 30/s:20", Family.FIRST_COME, 2, (Topic.RATE_LIMIT, "rate", 27, 33)),
    Known("workers --two-writes", Family.FIRST_COME, 2, (Topic.DELAYED_BODY, "share", 0.5, 1)),
    Known("workers --cache", None, 2, (Topic.CACHE, "second over first", 0, 0.5)),
    Known("workers --idle 2500ms", Family.FIRST_COME, 2, (Topic.KEEP_ALIVE, "idle", 2.5, 2.5)),
    Known(
        "workers --queue 40 --full 503",
        Family.FIRST_COME,
        2,
        (Topic.QUEUE_LIMIT, "limit", 42, 42),
        overload=True,
    ),
]


def run(effort: Effort) -> Section:
    servers = [*SERVERS, *SIGNATURES] if effort.quick else [*SERVERS * REPEATS, *SIGNATURES]
    samples = []
    for number, known in enumerate(servers, 1):
        with reference(*known.arguments.split()) as address:
            found = jostle.explain(
                f"http://{address}/hello",
                slow=SLOW,
                wait=WAIT,
                intensity="thorough",
                budget=QUICK_S if effort.quick else BUDGET_S,
                overload=known.overload,
            )
        outcome, said = judged(known, found)
        print(f"{number} of {len(servers)}  {known.arguments}: {outcome}: {said}", flush=True)
        samples.append(
            {"server": known.arguments, "outcome": outcome, "said": said, "seconds": found.seconds}
        )
    return section(servers, samples)


def judged(known: Known, found: Explanation) -> tuple[str, str]:
    """Wrong, if anything that is told is not true; and what was said."""
    finding = found.finding(Topic.DISCIPLINE)
    said = finding.says if finding else ""
    workers = finding.figure("workers") if finding else None
    outcomes = ["cannot tell" if found.family is None else "correct"]
    if found.family is not None and found.family is not known.family:
        outcomes = ["wrong"]
    if workers is not None and not (workers.low or 0) <= known.workers <= (workers.high or known.workers):
        outcomes = ["wrong"]
    if known.signature is not None:
        topic, name, low, high = known.signature
        signature = found.finding(topic)
        said += f" {signature.says}" if signature else ""
        figure = signature.figure(name) if signature is not None and signature.decided else None
        if outcomes != ["wrong"]:
            outcomes = ["cannot tell"]  # what this server is here for is its signature
        if signature is not None and signature.decided:
            right = figure is not None and _overlaps(figure, low, high)
            outcomes = [*outcomes, "correct"] if right else ["wrong"]
    return ("wrong" if "wrong" in outcomes else outcomes[-1]), said


def _overlaps(figure: Estimate, low: float, high: float) -> bool:
    """A figure with a bound has no upper end."""
    if figure.value is None:
        return False
    least = figure.value if figure.low is None else figure.low
    most = math.inf if figure.bound else figure.value if figure.high is None else figure.high
    return least <= high and low <= most


def section(servers: list[Known], samples: list[dict[str, object]]) -> Section:
    """Rows, and a line for each server."""
    outcomes = Counter(str(sample["outcome"]) for sample in samples)
    not_wrong = 1 - outcomes["wrong"] / len(samples)
    decided = outcomes["correct"] / len(samples)
    lines = ["| real server | correct | cannot tell | wrong |", "|---|---|---|---|"]
    for name in dict.fromkeys(known.arguments for known in servers):
        own = Counter(str(sample["outcome"]) for sample in samples if sample["server"] == name)
        lines.append(f"| {name} | {own['correct']} | {own['cannot tell']} | {own['wrong']} |")
    return Section(
        [
            Row(
                "explain, real reference servers: correct or cannot tell",
                f"≥ {NOT_WRONG_BAR:.0%}",
                f"{not_wrong:.1%}",
                not_wrong >= NOT_WRONG_BAR,
            ),
            Row(
                f"… confidently wrong, of {len(samples)}",
                "0",
                str(outcomes["wrong"]),
                outcomes["wrong"] == 0,
            ),
            Row("… decided", f"≥ {DECIDED_BAR:.0%}", f"{decided:.1%}", decided >= DECIDED_BAR),
        ],
        details="\n".join(lines),
        samples=samples,
    )
