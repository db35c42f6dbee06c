"""A plan: which servers, which workloads, how often."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from jostle import units
from jostle.errors import BadValue, PlanError, nearest
from jostle.plan.base import Table, in_own_words
from jostle.plan.cluster import Cluster
from jostle.plan.criteria.claims import Claim, Part, PlannedFigure, Published, Ratio
from jostle.plan.criteria.conditions import (
    INDICES,
    Conditions,
)
from jostle.plan.criteria.requirement import Requirement
from jostle.plan.journeys.journey import Journey
from jostle.plan.labels import resolve_label, split
from jostle.plan.load import OpenLoad
from jostle.plan.overrides import UNTIL_DECIDED, Overrides
from jostle.plan.servers.contestant import ContestantFile
from jostle.plan.servers.database import DatabaseTable
from jostle.plan.servers.tuning import Tune
from jostle.plan.values import (
    PARAMETER,
    Duration,
    PositiveCount,
    PositiveDuration,
    positive_count,
)
from jostle.plan.workload import SAME, Workload

__all__ = ["Plan", "Starvation"]


class Starvation(Table):
    """The workloads whose comparison shows what a slow request does to the fast ones."""

    form: str = Field(
        description='name of this form of the experiment in reports, such as "as published" or "open loop"'
    )
    title: str = Field(default="", description="title in reports")
    alone: str = Field(description="the workload with fast requests only")
    with_: str = Field(description="the workload with slow requests beside the fast ones")
    slow: str = Field(
        default="",
        description="the workload that measures the slow request alone; if not given, the slow request is "
        "measured beside the fast ones",
    )


def _named_twice(names: Sequence[str]) -> str:
    name, times = Counter(names).most_common(1)[0]
    return name if times > 1 else ""


MIN_EXPLAIN_S = 20.0
"""With less time, too few requests are sent to say anything about a server."""

MAX_ROUNDS = 10_000
"""A limit, because the order of all trials is drawn up before the first one starts."""

ROUNDS_SCHEMA: Any = {
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": MAX_ROUNDS},
        {"type": "string", "pattern": f"^(until decided|[0-9][0-9_,.]*|{PARAMETER})$"},
    ]
}


def _rounds(value: Any) -> Any:
    if value == UNTIL_DECIDED:
        return value
    if (rounds := positive_count(value)) > MAX_ROUNDS:
        raise BadValue(f"{rounds:,} rounds are too many", f"at most {MAX_ROUNDS:,}; a round may be longer")
    return rounds


def _contestants(value: Any) -> Any:
    if value == []:
        raise BadValue("an empty list", 'name at least one server, for example ["node", "go"]')
    if isinstance(value, list) and (twice := _named_twice([str(name) for name in value])):
        raise BadValue(f"{twice!r} is listed twice", "to measure it twice, write rounds = 2")
    return value


class Plan(Table):
    """Which servers are measured under which workloads, and how often."""

    title: str = Field(description="the question the plan answers")
    about: str = Field(default="", description="text for readers of the report: what is measured, and why")
    contestants: Annotated[list[str], BeforeValidator(_contestants)] = Field(
        description='servers by name, with variants: ["node", "go:procs=1"]'
    )
    workloads: list[str] = Field(default=[], description="the workloads to measure; all when not given")
    rounds: Annotated[
        int | Literal["until decided"], BeforeValidator(_rounds), WithJsonSchema(ROUNDS_SCHEMA)
    ] = Field(
        default=5,
        description='how often each workload is measured on each server; "until decided": at least three '
        "times, then as long as more may decide a requirement or claim (in a plan that has neither: the "
        "primary metric of a comparison)",
    )
    budget: PositiveDuration = Field(
        default=1800.0,
        description='with rounds = "until decided": the time for all rounds; there are always at least three',
    )
    repeats: bool = Field(
        default=True,
        description="repeat trials that the generator or the machine disturbed, at most twice",
    )
    together: list[list[str]] = Field(
        default=[],
        description="groups of workloads. Those of a group are measured on one server, one after another, "
        "without a restart: in this order in odd rounds, and in reverse order in even ones",
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        default=None, description="seed of every random choice; if not given, a random one, which is recorded"
    )
    invalid_if: Conditions = Field(
        default=[],
        description='trials that no figure may be taken from: ["errors > 5 %", "unavailable > 10 %"]. '
        "Otherwise failed requests are a result like any other ([the verdict](explanation/verdict.md))",
    )
    warm_up: Duration = Field(
        default=0.0, description="how long the load is sent before each trial without being recorded"
    )
    threads: Annotated[PositiveCount, Field(le=1024)] | None = Field(
        default=None, description="generator threads in total; one per generator core when not given"
    )
    processes: Annotated[PositiveCount, Field(le=1000)] | None = Field(
        default=None, description="generator processes; as many as the connections need when not given"
    )
    cluster: Cluster | None = Field(default=None, description="generators on many machines")
    share_cores: bool = Field(default=False, description="server and generator may run on the same cores")
    explain: PositiveDuration | None = Field(
        default=None,
        description="after the trials, `jostle explain` runs on each contestant that comes with jostle, for "
        'at most this long (at least "20s"); the report says in a paragraph how each of them behaves',
    )
    busy_poll: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="whether the generator polls instead of sleeping when it expects a response or has a "
        "request to send soon, so that its wake-up delay adds nothing to short response times and at most "
        "0.3 % to long ones; "
        '"auto": if each of its threads has its own core',
    )
    parameters: dict[str, int | float | str] = Field(
        default={},
        description="values for {name} in the plan's texts; `--set name=value` changes them",
    )
    tune: dict[str, Tune] = Field(default={}, description="parameters that are calibrated once per machine")
    workload: dict[str, Workload] = Field(description="what is measured, by name")
    narrowed: dict[str, list[str]] = Field(
        default={},
        description="written by jostle in its copy of a plan; do not set it. For each workload whose "
        "contestants `--quick` or `--as-published` changed, the contestants that the plan gives it; "
        "`--contestants` chooses among these",
    )
    journey: dict[str, Journey] = Field(default={}, description="what users do, by name")
    contestant: dict[str, ContestantFile] = Field(default={}, description="your own servers, by name")
    database: DatabaseTable | None = Field(
        default=None,
        description="the database of contestants that use one; without it the routes /orders and /shop of "
        "jostle's own contestants answer 503",
    )
    starvation: list[Starvation] = Field(default=[], description="comparisons with and without slow requests")
    primary: Literal["throughput", "p50", "p90", "p99", "p99.9"] | None = Field(
        default=None,
        description="the metric whose own interval decides when contestants are compared; "
        "if not given, the throughput of a closed loop and the p99 of an open one",
    )
    require: list[Requirement] = Field(default=[], description="what must hold")
    published: Published | None = Field(default=None, description="published figures and their source")
    ratio: list[Ratio] = Field(default=[], description="ratios of two workloads")
    claim: list[Claim] = Field(default=[], description="published claims, and the rules that decide them")

    @model_validator(mode="after")
    def _explaining_takes_time(self) -> "Plan":
        if self.explain is not None and self.explain < MIN_EXPLAIN_S:
            raise BadValue(f"explain = {units.format_duration(self.explain)}", "at least 20s")
        return self

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> "Plan":
        if not self.workload:
            raise BadValue("the plan has no workload", "write a table [workload.NAME] with request and load")
        for name, workload in self.selected.items():
            self._check_database(name, workload)
        for workload_name, workload in self.workload.items():
            for name in workload.journeys.keys() - self.journey.keys():
                raise BadValue(
                    f"workload.{workload_name}.journeys: there is no journey {name!r}",
                    nearest(name, self.journey)
                    if self.journey
                    else "write a table [journey.NAME] with steps",
                )
            self._check_connections(workload_name, workload)
        for where, name in self._workloads_named():
            if name not in self.workload:
                raise BadValue(f"{where}: there is no workload {name!r}", nearest(name, self.workload))
        self._check_together()
        for number, require in enumerate(self.require, 1):
            self._measures(f"require.{number}", require)
        self._check_contestants((info.context or {}).get("servers"))
        self._indices_are_measured()
        for number, claim in enumerate(self.claim, 1):
            for name in {*claim.needs.parameters} - {*self.parameters}:
                raise BadValue(
                    f"claim.{number}.needs: there is no parameter {name!r}", nearest(name, self.parameters)
                )
        for name, tune in self.tune.items():
            kind = "a text, a time or a rate" if tune.takes is None else "a whole number"
            if not isinstance(self.parameters.get(name), str if tune.takes is None else int):
                raise BadValue(
                    f"tune.{name}: there is no parameter {name!r} that is {kind}",
                    nearest(name, self.parameters),
                )
        return self

    def _check_connections(self, name: str, workload: Workload) -> None:
        """Check the connections of journeys that send steps together or have a WebSocket."""
        journeys = {journey: self.journey[journey] for journey in workload.journeys}
        http1 = workload.protocol(self.journey) == "HTTP/1.1"
        if not http1 and any(journey.has_socket for journey in journeys.values()):
            calls = workload.has_calls(self.journey)
            raise BadValue(
                f"workload.{name}: a WebSocket is opened over HTTP/1.1 only",
                "make another workload of the calls" if calls else "leave out http2, or the steps with ws",
            )
        together = [name for name, journey in journeys.items() if journey.sends_together]
        if not http1 and together and workload.load.connection_limit is not None:
            key = "requests-per-connection" if workload.load.keep_alive else "keep-alive = false"
            raise BadValue(
                f"workload.{name}.load: {key} does not go with streams that are sent together (parallel)",
                "leave it out, or parallel",
            )
        for journey in together:
            if http1 and journeys[journey].connections == 1:
                raise BadValue(
                    f"journey.{journey}: parallel: over one connection of HTTP/1.1 nothing is sent together",
                    "write connections = 6, or http2 for the workload",
                )
        each = workload.connections_of_a_client(self.journey)
        if isinstance(workload.load, OpenLoad) and workload.load.max_connections < each:
            raise BadValue(
                f"workload.{name}.load: {workload.load.max_connections} connections at most, and a client of "
                f"its journeys has {each}",
                f"write max-connections = {each} or more",
            )

    def _check_contestants(self, servers: Collection[str] | None) -> None:
        """Check that every contestant that the plan names exists, whether it is measured or not.

        `servers`: the contestants that exist besides the plan's own; None if they are not known.
        """
        if servers is None:
            return
        known = list(dict.fromkeys([*self.contestants, *self.contestant, *servers]))
        for where, name in self._contestants_named():
            if name not in known and split(name)[0] not in known:
                raise BadValue(f"{where}: there is no contestant {name!r}", nearest(name, known))

    def _check_together(self) -> None:
        """Check that one server can serve all workloads of a group, and that no workload is in two groups."""
        listed = [name for group in self.together for name in group]
        if listed and (twice := _named_twice(listed)):
            raise BadValue(f"together: {twice!r} is listed twice", "a workload is of one group")
        for group in self.together:
            of_group = [self.workload[name] for name in group]
            if len({(w.peer, w.memory, w.share_cores, str(w.database)) for w in of_group}) > 1:
                raise BadValue(
                    f"together: {', '.join(group)} need different servers",
                    "give them the same peer, memory, cores and database",
                )

    def group_of(self, workload: str) -> list[str]:
        """The workloads measured on the same started server as `workload`, which is among them, in order."""
        return next((group for group in self.together if workload in group), [workload])

    def _indices_are_measured(self) -> None:
        compared = {w for s in self.starvation for w in (s.alone, s.with_)}
        for where, part in self._parts():
            if part.metric in INDICES and part.workload not in compared:
                raise BadValue(
                    f"{where}: no [[starvation]] of this plan measures the {part.metric}"
                    f" of {part.workload!r}",
                    "write a [[starvation]] with alone, with and slow",
                )

    @property
    def selected(self) -> dict[str, Workload]:
        """The workloads that are measured, by name: those listed in `workloads`, or all."""
        return {
            name: workload
            for name, workload in self.workload.items()
            if not self.workloads or name in self.workloads
        }

    def _check_database(self, name: str, workload: Workload) -> None:
        try:
            self.database_of(workload)
        except BadValue as wrong:
            raise BadValue(f"workload.{name}.database: {wrong.message}", wrong.hint) from None

    def database_of(self, workload: Workload) -> DatabaseTable | None:
        """The database that contestants find under this workload; None if there is none."""
        if self.database is None and workload.database is None:
            return None
        return (self.database or DatabaseTable()).changed(workload.database)

    def _measures(self, where: str, require: Requirement) -> None:
        """Refuse a requirement on something that this plan does not measure."""
        if require.contestant and not resolve_label(require.contestant, self.contestants):
            raise BadValue(
                f"{where}.contestant: {require.contestant!r} is not measured",
                nearest(require.contestant, self.contestants),
            )
        if require.part:
            self._sends(where, require)
        if require.of_difference:
            self._compares(where, require)
        elif require.condition.metric in INDICES:
            compared = {w for s in self.starvation for w in (s.alone, s.with_)}
            if not compared or require.workload not in ("", *compared):
                raise BadValue(
                    f"{where}: no [[starvation]] of this plan measures the {require.condition.metric}"
                    + (f" of {require.workload!r}" if require.workload else ""),
                    "write a [[starvation]] with alone, with and slow, or leave the requirement out",
                )

    def _sends(self, where: str, require: Requirement) -> None:
        """Refuse a requirement on a request or a step that no workload in question has."""
        key = "step" if require.step else "request"
        workloads = [self.workload[require.workload]] if require.workload else [*self.workload.values()]
        known = dict.fromkeys(
            name
            for workload in workloads
            for name in (workload.steps(self.journey) if require.step else workload.names)
        )
        scripts = any(self.journey[name].script for workload in workloads for name in workload.journeys)
        if require.part in known or (require.step and scripts):  # a script's steps are known when it is read
            return
        hint = (
            nearest(require.part, known)
            if known
            else "a request of a list is named by request, a step of a journey by step"
        )
        raise BadValue(f"{where}.{key}: there is no {key} {require.part!r}", hint)

    def _compares(self, where: str, require: Requirement) -> None:
        """Refuse a requirement on a difference between what this plan does not compare."""
        if require.against and not resolve_label(require.against, self.contestants):
            raise BadValue(
                f"{where}.against: {require.against!r} is not measured",
                nearest(require.against, self.contestants),
            )
        if len(self.contestants) < 2:
            raise BadValue(f"{where}: there is nothing to compare with", "name two contestants in the plan")

    def _workloads_named(self) -> Iterator[tuple[str, str]]:
        for name in self.workloads:
            yield "workloads", name
        for group in self.together:
            for name in group:
                yield "together", name
        for number, comparison in enumerate(self.starvation, 1):
            for key, name in (
                ("alone", comparison.alone),
                ("with", comparison.with_),
                ("slow", comparison.slow),
            ):
                if name:
                    yield f"starvation.{number}.{key}", name
        for number, require in enumerate(self.require, 1):
            if require.workload:
                yield f"require.{number}.workload", require.workload
        for number, ratio in enumerate(self.ratio, 1):
            yield f"ratio.{number}.workload", ratio.workload
            yield f"ratio.{number}.against", ratio.against
        for where, figure in self._figures():
            yield f"{where}.workload", figure.workload
        for number, drawn in enumerate(self.published.pictures if self.published else [], 1):
            yield f"published.pictures.{number}.workload", drawn.workload
        for where, part in self._parts():
            yield f"{where}.workload", part.workload
            if part.against and part.against.workload:
                yield f"{where}.against.workload", part.against.workload

    def _contestants_named(self) -> Iterator[tuple[str, str]]:
        for name, tune in self.tune.items():
            yield f"tune.{name}.on", tune.on
        for name, workload in self.workload.items():
            if workload.peer not in ("", SAME) and "/" not in workload.peer:
                yield f"workload.{name}.peer", workload.peer
        for where, figure in self._figures():
            yield f"{where}.contestant", figure.contestant
        for where, part in self._parts():
            yield f"{where}.contestant", part.contestant
            if part.against and part.against.contestant:
                yield f"{where}.against.contestant", part.against.contestant

    def _figures(self) -> Iterator[tuple[str, PlannedFigure]]:
        for number, figure in enumerate(self.published.figures if self.published else [], 1):
            yield f"published.figures.{number}", figure

    def _parts(self) -> Iterator[tuple[str, Part]]:
        for number, claim in enumerate(self.claim, 1):
            for index, part in enumerate(claim.holds, 1):
                yield f"claim.{number}.holds.{index}", part

    @classmethod
    def of(
        cls,
        data: Mapping[str, Any],
        origin: str,
        *,
        base: Path | None = None,
        servers: Collection[str] | None = None,
        places: Mapping[str, str] | None = None,
    ) -> "Plan":
        """Check TOML data. Raises `PlanError` with everything that is wrong.

        `base`: the folder that relative file names are resolved against; without it no file is looked at.
        `servers`: the contestants that exist besides the plan's own; without them no name is looked up.
        `places`: the caller's names for places in the plan ("rounds" → "--rounds"), for messages.
        """
        try:
            return cls.model_validate(data, context={"base": base, "servers": servers})
        except ValidationError as error:
            raise in_own_words(error, data, origin, places) from None

    @property
    def until_decided(self) -> bool:
        """Whether rounds are added as long as anything is undecided."""
        return self.rounds == UNTIL_DECIDED

    def changed(self, overrides: Overrides, places: Mapping[str, str] | None = None) -> "Plan":
        """A copy of the plan with `overrides`, checked again. `places` as in `of`. Raises `PlanError`."""
        if self.narrowed and overrides.contestants is not None:
            return self._widened().changed(overrides, places)
        data = overrides.applied_to(self.data())
        for name, contestants in self._widened_by(overrides).items():
            data["workload"][name]["contestants"] = contestants
        if overrides.duration is not None:
            seconds = units.duration(overrides.duration, bare="s")
            for name, workload in self.workload.items():
                data["workload"][name]["load"] = workload.load.with_duration(seconds).data()
        return Plan.of(data, "changed plan", places=places)

    def _widened(self) -> "Plan":
        """The same plan without the scale's choice of contestants for single workloads."""
        data = self.data()
        for name, whom in data.pop("narrowed").items():
            data["workload"][name]["contestants"] = whom
        return Plan.of(data, "plan")

    def _widened_by(self, overrides: Overrides) -> dict[str, list[str]]:
        """The contestants of each chosen workload, if some that are chosen have none of them."""
        chosen = overrides.contestants or []
        loads = {name: self.workload[name] for name in overrides.workloads or [] if name in self.workload}
        named = {label for load in loads.values() for label in load.measured_on(chosen)}
        newcomers = [label for label in chosen if label not in named]
        return {name: [*load.contestants, *newcomers] for name, load in loads.items() if newcomers}

    def with_labels(self, label: Callable[[str], str]) -> "Plan":
        """The same plan with `label(…)` for each contestant, wherever it is measured or named.

        Raises `PlanError` if a name would then mean other contestants than now.
        """
        data, labels = self.data(), [label(name) for name in self.contestants]

        def same(name: str) -> str:
            found, written = label(name), resolve_label(name, self.contestants)
            if {label(one) for one in written} - {*resolve_label(found, labels)}:
                raise PlanError(
                    f"{name!r} is ambiguous: it names {' and '.join(written)}, and is the name of the one "
                    "with the default settings",
                    f"list {found} instead of {_spelled(found, written, label)}, and {name!r} means it "
                    f"alone; or write the whole names in place of {name!r}",
                )
            return found

        for table in (data, *data["workload"].values()):
            table["contestants"] = [same(name) for name in table.get("contestants", [])]
        named = {key: _labelled(data[key], same) for key in ("require", "published", "claim") if key in data}
        return Plan.of(data | named, "plan")


def _spelled(found: str, written: Sequence[str], label: Callable[[str], str]) -> str:
    """The one of the names that has this label."""
    return next((name for name in written if label(name) == found), found)


def _labelled(value: Any, label: Callable[[str], str]) -> Any:
    """Part of the plan with `label(…)` in place of each contestant that it names."""
    if isinstance(value, list):
        return [_labelled(item, label) for item in value]
    if isinstance(value, dict):
        return {
            key: label(item)
            if key in ("contestant", "against") and isinstance(item, str) and item
            else _labelled(item, label)
            for key, item in value.items()
        }
    return value
