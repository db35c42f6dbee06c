"""Whether what explain says of an application is true: which faults it names, and which sentences are wrong.

A decided finding is a statement. It finds a fault if it names the routes, says what must be said, and has
every size right; it is vague if it leaves some of that out, and wrong if a size is. What says nothing of a
planted fault must hold of the application's routes, or speak of something that every server does; everything
else is a false fault, and so is what nothing here can judge.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from faults.hall import Application, Fault, Kind, Size, Truth
from faults.numbers import Number, numbers
from jostle.explain.answer import NOTHING_FOUND
from jostle.explain.discipline.candidates import Family
from jostle.explain.finding import Topic

__all__ = ["Judged", "Said", "judged"]

Verdict = Literal["found", "vague", "true", "wrong"]

FAULTS: Mapping[str, tuple[Kind, ...]] = {
    Topic.PAUSES: ("cron", "pauses at random"),
    Topic.RATE_LIMIT: ("rate limit",),
    Topic.DELAYED_BODY: ("Nagle",),
    Topic.CACHE: ("cold cache",),
    Topic.RARE: ("rare blocker", "rare slow", "n-th request", "uneven workers"),
    Topic.BY_PARAMETER: ("N+1 queries",),
    Topic.IDLE: ("slow start",),
    Topic.CONNECTING: ("accept backlog",),
    Topic.MEMORY: ("memory growth",),
    Topic.STREAMS: ("head of line",),
}
"""Topics that are about faults, by their kinds: "there is none" is wrong where one is planted."""

ALSO: Mapping[str, tuple[Kind, ...]] = {Topic.RARE: ("slow start", "cold cache")}
"""Faults that a finding of such a topic may be about, too, though another topic is theirs."""

SLOTS: tuple[Kind, ...] = (
    "pool",
    "shared pool",
    "thread limit",
    "lock",
    "shedding",
    "retries",
    "head of line",
)
DESCRIBED: Mapping[str, tuple[Kind, ...]] = {
    Topic.DISCIPLINE: SLOTS,
    Topic.PARALLELISM: SLOTS,
    Topic.SLOTS: SLOTS,
    Topic.BLOCKING: ("blocker", "rare blocker", "n-th request", "thread limit"),
    Topic.WARM_UP: ("slow start",),
    Topic.KEEP_ALIVE: ("keep-alive limit",),
    Topic.SERVICE_TIME: (),
    Topic.CPU: (),
    Topic.OVERTAKING: (),
    Topic.LEAVING: (),
    Topic.RECOVERY: (),
    Topic.GONE: (),
    Topic.INTERMEDIARY: (),
}
"""Topics of what every server does in one way or another, which may be a fault of these kinds."""

CONTRADICTS: Mapping[Kind, str] = {
    "cron": r"irregular|at random",
    "pauses at random": r"\bevery \d",
    "rare blocker": r"\bevery \d+(st|nd|rd|th)|others? (requests )?do not wait",
    "rare slow": r"\bevery \d+(st|nd|rd|th)|others? (requests )?wait",
}
"""Words of a finding about such a fault that are not true of it."""

SURE_S = 0.003
"""So much longer a response may take because of the machine, however short it is."""

FACTOR = 2.0
"""By this factor what a route takes by itself may be off: machines differ."""

NO_SIZE = re.compile(r"\btimes? in \d[\d,.]* (?:s|min)\b|\d[\d,.]* \w+(?: \([^)]*\))? longer on average")
"""For how long it was looked, and what others wait on average: no sizes of a fault."""

IDLE_S = {"fastapi": (5.0, 6.0), "node": (5.0, 7.0), "express": (5.0, 7.0), "nginx": (75.0, 76.0)}
"""After how long a connection is closed on which nothing is asked: Node adds a second to its 5, or not."""


CLOSE_AT_WILL = ("rails",)
"""Puma closes a connection after some requests if others wait for a thread."""


@dataclass(frozen=True)
class Said:
    """A statement. `fault`: the number of the fault that it is about, if it is about one."""

    says: str
    topic: str
    verdict: Verdict
    why: str = ""
    fault: int | None = None


@dataclass(frozen=True)
class Judged:
    """All that was said of an application in one run."""

    said: list[Said]
    found: list[bool]
    """For each fault whether it was found: named with its size, in the paragraph that one reads."""

    @property
    def wrong(self) -> list[Said]:
        return [one for one in self.said if one.verdict == "wrong"]


def judged(application: Application, explanation: Mapping[str, Any]) -> Judged:
    """Judges an explanation as JSON. A fault is found if the paragraph tells it, and does not say that there
    is none.
    """
    decided = [finding for finding in explanation["findings"] if finding["decided"]]
    said = [_judged(application, explanation, finding) for finding in decided]
    paragraph = _plain(explanation["paragraph"])
    told = [one.fault for one in said if one.verdict == "found" and _plain(one.says) in paragraph]
    denied = NOTHING_FOUND in paragraph
    return Judged(said, [number in told and not denied for number in range(len(application.faults))])


def _plain(text: str) -> str:
    """Without marks of emphasis."""
    return " ".join(text.replace("**", "").split())


def _judged(application: Application, explanation: Mapping[str, Any], finding: Mapping[str, Any]) -> Said:
    says, topic = _plain(finding["says"]), str(finding["topic"])
    if topic in FAULTS and not finding["notable"]:
        denied = [fault for fault in application.faults if fault.kind in FAULTS[topic]]
        return Said(says, topic, "wrong" if denied else "true", "it is there" if denied else "")
    why = _untrue(application, topic, says, _figures(finding))
    if topic == Topic.DISCIPLINE and explanation["family"] not in (None, Family.FIRST_COME):
        why = "who waits in these applications is served in the order in which he came"
    if why:
        return Said(says, topic, "wrong", why)
    about = [_of_fault(fault, says, topic) for fault in application.faults]
    for verdict in ("found", "wrong", "vague"):
        for number, (reached, why) in enumerate(about):
            if reached == verdict:
                return Said(says, topic, reached, why, number)
    if topic in DESCRIBED or not finding["notable"]:
        return Said(says, topic, "true")
    return Said(says, topic, "wrong", "there is no such fault")


def _of_fault(fault: Fault, says: str, topic: str) -> tuple[Verdict | None, str]:
    """What a sentence says of this fault; None if it is not about it. If its topic is not known, its words
    decide.
    """
    known = {**FAULTS, **DESCRIBED}
    if topic in known and fault.kind not in (*known[topic], *ALSO.get(topic, ())):
        return None, ""
    named = all(re.search(name, says, re.IGNORECASE) for name in fault.names)
    routes = all(route in says for route in fault.routes)
    if topic not in FAULTS and not (named and routes):
        return None, ""
    if re.search(CONTRADICTS.get(fault.kind, "(?!)"), says, re.IGNORECASE):
        return "wrong", f"it is a {fault.kind}"
    there = list(numbers(NO_SIZE.sub("", says)))
    of_none = {one.unit for one in there if not any(_is_right(size, one) for size in fault.sizes)}
    missing = [size for size in fault.sizes if not any(_is_right(size, one) for one in there)]
    if wrong := next((size for size in missing if size.unit and size.unit in of_none), None):
        return "wrong", f"{wrong.of} is {wrong.value:g} {wrong.unit}"
    whole = named and routes and all(size.optional for size in missing)
    return ("found" if whole else "vague"), ""


def _is_right(size: Size, number: Number) -> bool:
    """A number of another unit says nothing of it."""
    same = number.unit == size.unit
    return same and (size.holds(number.value) or number.low <= size.value <= number.high)


def _figures(finding: Mapping[str, Any]) -> dict[str, Number]:
    """The figures of a finding by name; one that is only a lower bound has no upper end."""
    found = {}
    for named in finding["figures"]:
        figure = named["figure"]
        if (value := figure["value"]) is None:
            continue
        low = value if figure["low"] is None else figure["low"]
        high = value if figure["high"] is None else figure["high"]
        found[named["name"]] = Number(value, figure["unit"], low, float("inf") if figure["bound"] else high)
    return found


def _untrue(application: Application, topic: str, says: str, figures: Mapping[str, Number]) -> str:
    """Why a finding does not hold of the application's routes; "" if it does, or if that is not known."""
    routes = [truth for path, truth in application.routes.items() if path in says]
    named = routes or list(application.routes.values())
    if topic == Topic.SERVICE_TIME and routes and (took := figures.get("median")):
        alone = routes[-1].alone
        if took.high < alone / FACTOR - SURE_S or took.low > alone * FACTOR + SURE_S:
            return f"it takes {alone:g} s"
    for name in ("slots", "at once", "workers"):
        if (told := figures.get(name)) and not any(_may_be(told, truth) for truth in named):
            return "so many at once: " + ", ".join(str(truth.at_once or "all") for truth in named)
    held_s = max((figures[name].value for name in ("added", "held up") if name in figures), default=0.0)
    if held_s > SURE_S and all(truth.blocks == "never" for truth in application.routes.values()):
        return "no route keeps another waiting"
    if topic == Topic.GONE and (share := figures.get("share")) and share.value < 0.5:
        return "none of them stops for those"
    if topic == Topic.KEEP_ALIVE:
        return _untrue_of_connections(application, figures)
    return ""


def _may_be(told: Number, truth: Truth) -> bool:
    if truth.at_once is None:
        return told.high == float("inf")
    return told.low <= truth.at_once <= told.high


def _untrue_of_connections(application: Application, figures: Mapping[str, Number]) -> str:
    limits = _sizes(application.faults, "keep-alive limit", "requests")
    if (requests := figures.get("requests per connection")) and requests.high < float("inf"):
        if not limits and application.runtime not in CLOSE_AT_WILL:
            return "connections carry any number of requests"
        if limits and not any(_is_right(size, requests) for size in limits):
            return f"a connection carries {limits[0].value:g} requests"
    behind = "nginx" if (application.folder / "nginx.conf").exists() else application.runtime
    idle_s = IDLE_S.get(behind)
    if (idle := figures.get("idle")) and idle_s and (idle.high < idle_s[0] or idle.low > idle_s[1]):
        return f"an idle connection is closed after {idle_s[0]:g} s"
    return ""


def _sizes(faults: Sequence[Fault], kind: Kind, of: str) -> list[Size]:
    return [size for fault in faults if fault.kind == kind for size in fault.sizes if size.of == of]
