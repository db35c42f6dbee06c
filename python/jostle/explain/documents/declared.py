"""What the author of a contestant declares about its scheduling, in the terms of findings, and whether the
findings agree.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from jostle.explain.discipline.candidates import SHARING_CORES, TO_THE_END, Family
from jostle.explain.finding import Topic
from jostle.explain.probes.discipline import SHARED
from jostle.explain.results import Explanation
from jostle.plan.servers.contestant import ContestantFile, VariantValue

__all__ = ["Declared", "Judgement", "declared", "judged", "labels"]

Judgement = Literal["agrees", "agrees in part", "differs", "undecided", "no work"]

WITH = re.compile(r"with (\w+): (.+)")
"""A clause of a declaration that applies only with a certain setting."""

SLEEPS = "jostle-reference"
"""The runtime whose workers sleep instead of computing, so that they need no cores."""


WATCHED = "Go"
"""The runtime that shares its cores with the help of a watchdog."""


@dataclass(frozen=True)
class Declared:
    """`families`: the disciplines that agree with the declaration. `workers`: their number where the
    discipline is first come, first served; None if not stated. `says`: the declaration with its settings
    filled in.
    """

    families: frozenset[Family]
    workers: int | None
    says: str


def labels(name: str, file: ContestantFile) -> list[str]:
    """The contestant's label, plus one label for each setting with a declaration of its own."""
    clauses = [found[1] for part in _clauses(file) if (found := WITH.fullmatch(part))]
    return [name, *(f"{name}:{setting}" for setting in clauses)]


def declared(file: ContestantFile, settings: Mapping[str, VariantValue], cores: int) -> Declared:
    """What `discipline` and `slice` of a contestant.toml mean on `cores` cores.

    More workers than cores can compute at the same time only by sharing the cores, and sharing is what an
    observer sees.
    """
    first, *others = _clauses(file)
    main = next(
        (found[2] for part in others if (found := WITH.fullmatch(part)) and settings.get(found[1])), first
    )
    plain = [part for part in others if not WITH.fullmatch(part)]
    count = _count(settings, cores) if main.startswith("c workers") else 1
    whole = "; ".join([main.replace("c workers", f"{count} workers"), *plain])
    if file.slice and "sharing" in main:
        whole += f", slice {file.slice}"
    if any("share a core in slices" in part for part in plain):
        return Declared(frozenset({Family.LOCKED_THREADS}), None, whole)
    if "sharing" in main:
        watched = {Family.WATCHDOG} if file.runtime == WATCHED else set[Family]()
        return Declared(frozenset({Family.SHARING, *watched}), None, whole)
    if "latest of a batch first" in main:
        return Declared(frozenset({Family.GATED_LAST_COME}), None, whole)
    if "answers gated" in main:
        return Declared(frozenset({Family.GATED_ANSWERS}), None, whole)
    if count > cores and file.runtime != SLEEPS:
        shared = f"{whole}; together on {cores} core{'' if cores == 1 else 's'}"
        if "dealt round robin" in main:
            return Declared(frozenset({Family.SHARED_QUEUES}), None, shared)
        return Declared(frozenset({Family.LOCKED_THREADS, Family.SHARING}), None, shared)
    if "the newest of a batch before" in main and count == 1:
        return Declared(frozenset({Family.GATED_SLOT}), None, whole)
    if "dealt" in main and count > 1:
        return Declared(frozenset({Family.OWN_QUEUES}), None, whole)
    return Declared(frozenset({Family.FIRST_COME}), count, whole)


def judged(expected: Declared, explanation: Explanation) -> Judgement:
    """Whether what was found is what was declared. "agrees in part": whether a request is computed to its end
    is as declared, and more could not be told; "no work": none of its routes computes.
    """
    finding = explanation.finding(Topic.DISCIPLINE)
    if explanation.family is None and all(route.role == "fast" for route in explanation.routes):
        return "no work"
    if explanation.family is None and (finding is None or not finding.decided):
        return "undecided"
    if explanation.family is None:
        shared = finding is not None and finding.figure(SHARED) is not None
        return (
            "agrees in part" if expected.families & (SHARING_CORES if shared else TO_THE_END) else "differs"
        )
    if explanation.family not in expected.families:
        return "differs"
    found = finding.figure("workers") if finding is not None else None
    if expected.workers is None or found is None or found.low is None or found.high is None:
        return "agrees"
    return "agrees" if found.low <= expected.workers <= found.high else "differs"


def _clauses(file: ContestantFile) -> list[str]:
    return [part.strip() for part in file.discipline.split(";")]


def _count(settings: Mapping[str, VariantValue], cores: int) -> int:
    """The number of workers according to the settings; 0 means one per core, as in every contestant.toml."""
    workers = settings.get("workers", settings.get("threads", 0))
    return int(workers) * int(settings.get("processes", 1)) or cores
