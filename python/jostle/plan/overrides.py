"""What a run's options change in its plan: other contestants, rounds, lengths, a database, a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from jostle.errors import PlanError

__all__ = ["UNTIL_DECIDED", "Overrides"]

UNTIL_DECIDED: Literal["until decided"] = "until decided"


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """What options give in place of the plan's values. None or an empty value leaves the plan as it is.

    `contestants` that are measured under none of the chosen `workloads` are measured under all of them.
    """

    PLACES: ClassVar = {"database": "database.url", "cluster": "cluster.address"}
    """The places in the plan of changes that have another name there."""

    contestants: Sequence[str] | None = None
    workloads: Sequence[str] | None = None
    rounds: int | None = None
    until_decided: bool = False
    budget: str | None = None
    no_repeats: bool = False
    explain: str | None = None
    duration: str | None = None
    """The new length of every load whose length is given as a time ("30s"; a bare number is seconds); phases
    are scaled in proportion."""
    database: str | None = None
    """Address of a PostgreSQL database that replaces the plan's; the other keys of [database] stay."""
    fill_database: bool = False
    processes: int | None = None
    busy_poll: str | None = None
    cluster: str | None = None
    allow_targets: Sequence[str] = ()
    """In addition to the plan's."""

    def applied_to(self, plan: Mapping[str, Any]) -> dict[str, Any]:
        """A plan's data with these values; the loads' lengths are left to the plan. Raises `PlanError`."""
        values = {
            "contestants": None if self.contestants is None else [*self.contestants],
            "workloads": None if self.workloads is None else [*self.workloads],
            "rounds": self.rounds,
            "processes": self.processes,
            "busy-poll": self.busy_poll,
            "explain": self.explain,
            "repeats": False if self.no_repeats else None,
        }
        data = dict(plan) | {key: value for key, value in values.items() if value is not None}
        return data | self._until_decided(data) | self._cluster(data) | self._database(data)

    def _until_decided(self, data: Mapping[str, Any]) -> dict[str, Any]:
        if self.until_decided and self.rounds is not None:
            raise PlanError("the rounds are given twice", "leave out --rounds or --until-decided")
        decided = self.until_decided or data["rounds"] == UNTIL_DECIDED
        if self.budget is not None and not decided:
            raise PlanError("--budget limits the rounds that --until-decided adds", "give both")
        rounds = {"rounds": UNTIL_DECIDED} if decided else {}
        return rounds if self.budget is None else {**rounds, "budget": self.budget}

    def _cluster(self, data: Mapping[str, Any]) -> dict[str, Any]:
        if self.cluster is None and not self.allow_targets:
            return {}
        cluster = dict(data.get("cluster", {}))
        if self.cluster is not None:
            cluster["address"] = self.cluster
        return {
            "cluster": cluster | {"allow-targets": [*cluster.get("allow-targets", []), *self.allow_targets]}
        }

    def _database(self, data: Mapping[str, Any]) -> dict[str, Any]:
        if self.database is None and not self.fill_database:
            return {}
        url = {} if self.database is None else {"url": self.database}
        return {"database": data.get("database", {}) | url | {"fill": self.fill_database}}
