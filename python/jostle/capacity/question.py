"""The question and the plan that answers it: one server, one request, and a workload for each load level."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jostle import contestant, roster, units
from jostle.capacity.slo import Slo, read_slos
from jostle.capacity.workloads import ALONE
from jostle.errors import PlanError, UnknownName
from jostle.plan import Plan
from jostle.plan.criteria.conditions import SLO_PARAMETER
from jostle.plan.curl import has_curl
from jostle.plan.hit.plan import hit_plan
from jostle.url import has_scheme

__all__ = ["CapacityQuestion", "question_of", "with_loads"]

BUDGET_S, QUICK_S = 240.0, 60.0
PRECISION, QUICK_PRECISION = 0.03, 0.06
ALONE_S, QUICK_ALONE_S = 5.0, 3.0

CONNECTIONS = ("keep-alive", "requests-per-connection")
"""Keys of a load that all levels share; closed loops share "think" too."""

WARM_UP = {"warm-up": "1s", "warm-up-clients": 1}
"""A single client, so that the server finishes what an overload left behind before the next block begins."""

LOOKS_LIKE_A_HOST = re.compile(r"^[^/]*@|^localhost\b|^[^/]*[.\[][^/]*|^[^/:]+:\d+(/|$)|^\[")


@dataclass(frozen=True)
class CapacityQuestion:
    """What is searched for, and on which server."""

    target: str
    """The server for readers: a URL, or a contestant with its path."""

    plan: Plan
    """It has only the workload "alone"; each level is added as a workload like it."""

    slos: tuple[Slo, ...]
    closed: bool
    """Whether levels are numbers of clients, not rates."""

    most: float
    """The highest level allowed."""

    precision: float
    """As for `Search`."""

    budget_s: float
    """The time for the whole search, in seconds."""

    quick: bool = False
    """Whether blocks are short, and no model is fitted."""

    @property
    def unit(self) -> str:
        return "clients" if self.closed else "/s"


def question_of(
    target: str | Sequence[str],
    slos: Sequence[str],
    options: Mapping[str, Any],
    *,
    closed: bool = False,
    most: float = float("inf"),
    budget: str | None = None,
    quick: bool = False,
    name_of: Any = str,
) -> CapacityQuestion:
    """The question about `target`: a URL, a curl command as `hit_plan` takes it, or a contestant with its
    settings and a path, such as "node:threadpool=8/fast/44". `options`: those of
    `jostle.plan.hit.plan.PLACES` that say what is sent. Raises `PlanError`, `UnknownName`.
    """
    read = read_slos(slos)
    budget_s = units.duration(budget, bare="s") if budget is not None else QUICK_S if quick else BUDGET_S
    if budget_s <= 0:
        raise PlanError(f"{name_of('budget')}: {budget} leaves no time to measure", "write for example 4m")
    label, url = _server(target) if isinstance(target, str) and not has_curl(target) else ("", target)
    alone_s = QUICK_ALONE_S if quick else ALONE_S
    made = hit_plan(url, {**options, "clients": 1, "seconds": alone_s}, name_of)
    data = made.data()
    if label and options.get("pid") is not None:
        raise PlanError(f"{label} is started by jostle, which watches it", f"leave out {name_of('pid')}")
    if label:
        data |= {"title": str(target), "contestants": [label]}
        data.pop("contestant", None)
    workload = data["workload"].pop("hit")
    timeout_s = made.workload["hit"].timeout
    longest = max((slo.limit_s for slo in read if slo.limit_s is not None), default=0.0)
    if timeout_s <= longest:
        raise PlanError(
            f"requests are given up after {units.format_duration(timeout_s)}, before "
            f"{units.format_duration(longest)} are over",
            f"give {name_of('timeout')} a longer time",
        )
    data["workload"] = {ALONE: workload | WARM_UP}
    data["parameters"] = {SLO_PARAMETER: "; ".join(slo.text for slo in read)}
    data["title"] = f"What does {data['title']} carry?"
    return CapacityQuestion(
        str(target) if label else made.title,
        Plan.of(data, "capacity"),
        read,
        closed,
        most,
        QUICK_PRECISION if quick else PRECISION,
        budget_s,
        quick,
    )


def _server(target: str) -> tuple[str, str]:
    """The label of a contestant and a URL with its path; for a running server, "" and its URL."""
    if has_scheme(target):
        return "", target
    for cut in [len(target), *(i for i in range(len(target) - 1, 0, -1) if target[i] == "/")]:
        label, path = target[:cut], target[cut:] or "/"
        if contestant.is_known(label) and ("/" in label) == ("/" in label.partition(":")[0]):
            contestant.find(label)  # raises at once for a variant that does not exist
            return label, f"http://contestant{path}"
    if LOOKS_LIKE_A_HOST.search(target):
        return "", target
    raise UnknownName("contestant or URL", target.partition("/")[0].partition(":")[0], roster.names())


def with_loads(
    plan: Plan,
    loads: Mapping[str, Mapping[str, Any]],
    *,
    simulated: bool,
    more: Mapping[str, Any] | None = None,
) -> Plan:
    """The plan with a workload for each of `loads`, by name. They send the same requests as "alone", changed
    by `more`. A simulated server needs no warm-up.
    """
    data = plan.data()
    if simulated:
        data["workload"][ALONE]["warm-up"] = "0s"
    template = data["workload"][ALONE]
    open_ = {key: template["load"][key] for key in CONNECTIONS if key in template["load"]}
    kept = open_ | {"think": template["load"]["think"]}
    for name, load in loads.items():
        own = open_ if load.keys() & {"rate", "rates"} else kept
        data["workload"].setdefault(name, {**template, **(more or {}), "load": {**own, **load}})
    return Plan.of(data, "capacity")
