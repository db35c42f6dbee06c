"""The paragraph: what was found, in plain English, with one finding behind each sentence."""

from collections.abc import Sequence

from jostle.explain.finding import Finding, Topic

__all__ = ["paragraph"]

TOLD = (
    Topic.DISCIPLINE,
    Topic.PARALLELISM,
    Topic.SERVICE_TIME,
    Topic.CPU,
    Topic.SLOTS,
    Topic.OVERTAKING,
    Topic.LEAVING,
    Topic.BLOCKING,
    Topic.QUEUE_LIMIT,
    Topic.RECOVERY,
    Topic.GONE,
    Topic.RATE_LIMIT,
    Topic.PAUSES,
    Topic.DELAYED_BODY,
    Topic.CACHE,
    Topic.WARM_UP,
    Topic.KEEP_ALIVE,
)
"""The topics in the paragraph's order; each appears if it is decided and notable."""

MUST_TELL = (Topic.DISCIPLINE, Topic.SERVICE_TIME)
"""If one of these is not decided, the paragraph says so."""

IMPLIED = {
    Topic.PARALLELISM: Topic.DISCIPLINE,
    Topic.OVERTAKING: Topic.BLOCKING,
    Topic.LEAVING: Topic.DISCIPLINE,
}
"""A topic adds nothing if the topic it maps to is decided."""


def paragraph(findings: Sequence[Finding]) -> str:
    """At most one sentence per topic, except for the service time, which has up to two."""
    by_topic: dict[Topic, list[Finding]] = {}
    for finding in findings:
        by_topic.setdefault(finding.topic, []).append(finding)
    decided = {topic for topic, those in by_topic.items() if any(one.decided for one in those)}
    sentences: list[str] = []
    for topic in TOLD:
        those = by_topic.get(topic, [])
        if topic in decided and IMPLIED.get(topic) not in decided:
            sentences += _chosen(topic, [one.says for one in those if one.decided and one.notable])
        elif topic in MUST_TELL and topic not in decided and those:
            sentences.append(_open_question(topic, those[0]))
    return " ".join(sentences)


def _chosen(topic: Topic, says: list[str]) -> list[str]:
    """One sentence; for service times two: those of the first route, the short one, and the second, the
    longest.
    """
    return says[:2] if topic is Topic.SERVICE_TIME else says[:1]


ASKED = {
    Topic.DISCIPLINE: "The order of service is unknown",
    Topic.SERVICE_TIME: "The service time is unknown",
}


def _open_question(topic: Topic, finding: Finding) -> str:
    because = finding.says.removeprefix("Cannot tell, because ").removesuffix(".")
    return f"{ASKED[topic]}, because {because}."
