"""The answer: what hurts first, worst first; then how it is served otherwise, what was not found, which
command would tell more, and what cannot be told.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from jostle.explain.finding import Finding, Topic
from jostle.formatting import listed

__all__ = ["Answer", "answer", "besides", "faults"]

FACTS = (
    Topic.DISCIPLINE,
    Topic.PARALLELISM,
    Topic.SLOTS,
    Topic.BLOCKING,
    Topic.CPU,
    Topic.GONE,
    Topic.QUEUE_LIMIT,
    Topic.RECOVERY,
    Topic.CACHE,
    Topic.WARM_UP,
    Topic.KEEP_ALIVE,
    Topic.SERVICE_TIME,
    Topic.INTERMEDIARY,
)
"""What is said of a server besides its faults, in this order."""

MAX_FACTS, MAX_OF_TOPIC = 5, {Topic.SERVICE_TIME: 2, Topic.SLOTS: 2}
"""How many sentences that is at most, and how many of them about one topic if not one."""

IMPLIED = {Topic.PARALLELISM: (Topic.DISCIPLINE, Topic.SLOTS)}
"""A topic adds nothing if one of these is decided."""

ROUTE_TOPICS = (Topic.DISCIPLINE, Topic.PARALLELISM)
"""What is said of the server's workers is no more than a limit of one route if that has one."""

MAX_FAULTS = 6

NOTHING_FOUND, NOTHING_CERTAIN = "No fault was found.", "No fault is certain."


@dataclass(frozen=True)
class Answer:
    """`paragraph`: what was found, what hurts first. The others are one line each, or ""."""

    paragraph: str
    absent: str
    command: str
    unknown: str


def answer(findings: Sequence[Finding], asked_with: Sequence[str]) -> Answer:
    """The answer from all findings. `asked_with`: the words of the command that was given."""
    said = [f"{one.says} {one.cure}".rstrip() for one in faults(findings)]
    absent = [one.absent for one in findings if one.absent]
    return Answer(
        " ".join([*said, *besides(findings)]),
        f"Looked for and not found: {listed(absent)}." if absent else "",
        _command(findings, asked_with),
        _unknown(findings),
    )


def faults(findings: Sequence[Finding]) -> list[Finding]:
    """What hurts, worst first."""
    return sorted((one for one in findings if one.hurts_s > 0), key=lambda one: -one.hurts_s)[:MAX_FAULTS]


def besides(findings: Sequence[Finding]) -> list[str]:
    """What is said besides the faults: that there is none, what may be one, and how the server serves."""
    suspected = [one.suspicion for one in findings if one.suspicion]
    none = [] if faults(findings) else [NOTHING_CERTAIN if suspected else NOTHING_FOUND]
    return [*none, *suspected, *_facts(findings)]


def _facts(findings: Sequence[Finding]) -> list[str]:
    decided = {one.topic for one in findings if one.decided}
    facts: list[str] = []
    for topic in FACTS:
        if any(implied in decided for implied in IMPLIED.get(topic, ())):
            continue
        if topic in ROUTE_TOPICS and any(one.topic is Topic.SLOTS and one.hurts_s for one in findings):
            continue
        of_topic = [one.says for one in findings if one.topic is topic and _is_fact(one)]
        facts += of_topic[: MAX_OF_TOPIC.get(topic, 1)]
    return facts[:MAX_FACTS]


def _is_fact(one: Finding) -> bool:
    return one.decided and one.notable and one.hurts_s == 0


def _command(findings: Sequence[Finding], asked_with: Sequence[str]) -> str:
    """One command with every option that an open question needs; "" if there is none, or no command."""
    needed = dict.fromkeys(one.option for one in findings if not one.decided and one.option)
    needed = {option: None for option in needed if option not in asked_with}
    if asked_with.count("--slow") > 1:  # there are lengths enough: it was something else
        needed.pop("--slow PATH", None)
    if not needed or not asked_with:
        return ""
    return " ".join([*map(shlex.quote, asked_with), *(VALUES.get(option, option) for option in needed)])


VALUES = {"--budget": "--budget 6m"}
"""What an option is given, where a finding only names it."""


def _unknown(findings: Sequence[Finding]) -> str:
    """What no option would tell, each with its reason."""
    open_ones: dict[str, list[str]] = {}
    for one in findings:
        if not one.decided and not one.option:
            open_ones.setdefault(str(one.reason), []).append(str(one.topic))
    parts = [f"{listed(list(dict.fromkeys(topics)))} ({why})" for why, topics in open_ones.items()]
    return f"Cannot be told: {'; '.join(parts)}." if parts else ""
