"""The plan of a recorded run, as far as it says how to read the results.

    plan = RecordedPlan.parse(record.plan_text)     # never raises
    plan.starvation, plan.require, plan.published.figures, plan.ratio, plan.claim
    plan.workload_title("fast-only")                # "" where it has none

The tables are those of `jostle.plan`. They are read leniently, since another version of jostle may have
written them: unknown keys are left out, unknown metrics are kept by name, and nothing is checked across
tables. A table that still cannot be read is in `unreadable`, with the reason. Loads are not read here: what
was sent is in each trial's own record (`engine` in trial.json).
"""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from jostle.errors import BadValue, PlanError
from jostle.plan.base import Table
from jostle.plan.criteria.claims import Claim, Drawn, PlannedFigure, Published, Ratio
from jostle.plan.criteria.conditions import Condition, of_one_trial
from jostle.plan.criteria.requirement import Requirement
from jostle.plan.files.toml import TOMLDecodeError, read_toml
from jostle.plan.model import Starvation
from jostle.plan.overrides import UNTIL_DECIDED

__all__ = ["RecordedPlan", "Unreadable"]

T = TypeVar("T", bound=Table)


@dataclass(frozen=True)
class Unreadable:
    """A table that this version cannot read."""

    key: str
    """The name of the table: "require", "claim", …."""
    data: Any
    reason: str
    """Why, in one line."""


@dataclass(frozen=True)
class RecordedPlan:
    """What a recorded plan says about the results. Lists are in the plan's order."""

    title: str = ""
    contestants: list[str] = field(default_factory=list)
    workload: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Raw tables by name, in the plan's order."""
    repeats: bool = True
    """Whether trials that the machine spoiled were repeated; they do not count if that did not help."""
    until_decided: bool = False
    """Whether rounds were added until all was decided. Intervals are then wider, to pay for the looks."""
    primary: str = ""
    """The metric by which contestants are compared first; "" if the plan names none."""
    invalid_if_of_all: Sequence[str] = ()
    """Of all workloads that say nothing of their own."""
    parameters: Mapping[str, int | float | str] = field(default_factory=dict)
    busy_poll: str = "auto"
    cluster_address: str = ""
    """The cluster's head, HOST:PORT; "" if the load came from one machine."""
    starvation: list[Starvation] = field(default_factory=list)
    require: list[Requirement] = field(default_factory=list)
    published: Published | None = None
    ratio: list[Ratio] = field(default_factory=list)
    claim: list[Claim] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)

    @classmethod
    def parse(cls, text: str) -> "RecordedPlan":
        """Read a plan.toml. For text that is not TOML, the plan is empty and `unreadable` has the reason."""
        try:
            return cls.of(read_toml(text))
        except TOMLDecodeError as error:
            return cls(unreadable=[Unreadable("plan", text, str(error))])

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "RecordedPlan":
        """Read TOML data. Never raises."""
        unreadable: list[Unreadable] = []

        def tables(key: str, model: type[T], found: Any) -> list[T]:
            return list(_readable(key, model, found, unreadable))

        return cls(
            title=str(data.get("title", "")),
            busy_poll=str(data.get("busy-poll", data.get("attention", "auto"))),
            contestants=[str(name) for name in _list(data.get("contestants"))],
            workload={name: _table(workload) for name, workload in _table(data.get("workload")).items()},
            repeats=data.get("repeats") is not False,
            until_decided=data.get("rounds") == UNTIL_DECIDED,
            primary=str(data.get("primary") or ""),
            invalid_if_of_all=[str(text) for text in _list(data.get("invalid-if"))],
            parameters=_table(data.get("parameters")),
            cluster_address=str(_table(data.get("cluster")).get("address", "")),
            starvation=tables("starvation", Starvation, data.get("starvation")),
            require=tables("require", Requirement, _as_now(data.get("require"))),
            published=_published(_as_now(_table(data.get("published"))), unreadable),
            ratio=tables("ratio", Ratio, _as_now(data.get("ratio"))),
            claim=tables("claim", Claim, _as_now(data.get("claim"))),
            unreadable=unreadable,
        )

    def invalid_if(self, workload: str) -> list[Condition]:
        """What makes a trial of a workload invalid; conditions that cannot be read are left out."""
        own = self.workload.get(workload, {}).get("invalid-if")
        texts = self.invalid_if_of_all if own is None else own
        found = []
        for text in _list(texts):
            with contextlib.suppress(BadValue):
                found.append(of_one_trial(str(text)))
        return found

    def workload_title(self, name: str) -> str:
        """The title of a workload; "" if the plan gives none."""
        return str(self.workload.get(name, {}).get("title", ""))


def _published(table: Mapping[str, Any], unreadable: list[Unreadable]) -> Published | None:
    """Read the figures one by one, so that one that cannot be read does not affect the others."""
    if not table:
        return None
    source, url, setup = (str(table.get(key, "")) for key in ("source", "url", "setup"))
    figures = list(_readable("published.figures", PlannedFigure, table.get("figures"), unreadable))
    pictures = list(_readable("published.pictures", Drawn, table.get("pictures"), unreadable))
    return Published.model_construct(source=source, url=url, setup=setup, figures=figures, pictures=pictures)


def _readable(key: str, model: type[T], found: Any, unreadable: list[Unreadable]) -> Iterable[T]:
    for data in _list(found):
        try:
            yield model.lenient(data)
        except PlanError as error:
            unreadable.append(Unreadable(key, data, " ".join(error.message.split())))


def _as_now(value: Any) -> Any:
    """A part of a plan with the keys and metrics of today, of which two were called otherwise before."""
    if isinstance(value, dict):
        return {"metric" if key == "quantity" else key: _as_now(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_as_now(one) for one in value]
    return value.replace("bytes per answer", "bytes per response") if isinstance(value, str) else value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
