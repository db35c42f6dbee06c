"""The paragraph: what was found, in plain English, every sentence from one finding."""

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
"""In this order, where it is decided and worth a sentence."""

MUST_TELL = (Topic.DISCIPLINE, Topic.SERVICE_TIME)
"""Where these are not decided the paragraph says so."""

IMPLIED = {
    Topic.PARALLELISM: Topic.DISCIPLINE,
    Topic.OVERTAKING: Topic.BLOCKING,
    Topic.LEAVING: Topic.DISCIPLINE,
}
"""A topic that says nothing more where the other one is decided."""


def paragraph(findings: Sequence[Finding]) -> str:
    """At most one sentence for each topic, but one for each route's service time."""
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
    """Of several routes the first, which is the short one, and the second, which is the longest."""
    return says[:2] if topic is Topic.SERVICE_TIME else says[:1]


ASKED = {
    Topic.DISCIPLINE: "The order of service is unknown",
    Topic.SERVICE_TIME: "The service time is unknown",
}


def _open_question(topic: Topic, finding: Finding) -> str:
    because = finding.says.removeprefix("Cannot tell, because ").removesuffix(".")
    return f"{ASKED[topic]}, because {because}."
