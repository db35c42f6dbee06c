"""What explain makes of a server that goes away, closes connections, or pauses amid other stalls."""

from collections import Counter

from jostle.explain.documents.document import explanation_document
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding, unless_away
from jostle.explain.reason import Reason
from jostle.explain.results import Explanation
from jostle.explain.send import ConnectionCounter
from jostle.report.export import html
from support.served import FAST, SLOW, Server, explained


def of(explanation: Explanation, topic: Topic) -> Finding:
    (finding,) = [one for one in explanation.findings if one.topic is topic]
    return finding


def test_a_cron_job_is_told_with_its_period_amid_shorter_and_longer_stalls() -> None:
    pauses = sorted([*((begin, 0.1) for begin in range(2, 40, 2)), (5.3, 0.06), (8.9, 0.07), (15.2, 0.06)])
    finding = of(explained(Server(pauses=pauses), FAST), Topic.PAUSES)
    assert finding.says.startswith("Every 2.00 s (")


def test_how_many_requests_a_connection_carries_is_counted_on_those_that_were_closed() -> None:
    """Of 1,085 requests on two connections the first carried 1,000: not 542."""
    carried = ConnectionCounter()
    for hundredth in range(2000):
        carried.add(int(hundredth % 2 == 0), int(hundredth == 0))
    carried.add(1, 1)
    carried.add(85, 0)
    assert carried.closed == [1000]
    finding = of(explained(Server(closes_after=200), FAST), Topic.KEEP_ALIVE)
    assert finding.says.startswith("Each connection is closed after 200 requests; ")
    assert of(explained(Server(), FAST), Topic.KEEP_ALIVE).says.endswith("requests or more.")


def test_a_probe_during_which_the_server_was_away_finds_nothing_and_says_so() -> None:
    explanation = explained(Server(away=lambda at: 1.0 < at < 1.7), FAST, SLOW)
    for topic in (Topic.RATE_LIMIT, Topic.KEEP_ALIVE, Topic.PAUSES):
        finding = of(explanation, topic)
        assert not finding.decided
        assert finding.reason is Reason.AWAY
        assert "could not connect (" in finding.says
        assert "× connection refused)" in finding.says
    assert "rate limit up to" not in explanation.paragraph
    assert of(explanation, Topic.QUEUE_LIMIT).reason is Reason.NOT_ASKED


def test_a_server_that_is_away_for_whole_bursts_is_explained_to_the_end() -> None:
    """Its bursts begin at 0 of their own time; none of their requests is sent."""
    calls = iter(range(10_000))
    first = 150 + len(explained(Server(), FAST, SLOW).stream)  # what is asked before the bursts
    explanation = explained(Server(away=lambda _: first < next(calls) < first + 30), FAST, SLOW)
    assert of(explanation, Topic.DISCIPLINE).reason is Reason.AWAY
    assert all(burst.jobs for burst in explanation.bursts)
    assert html.render(explanation_document(explanation))


def test_what_was_not_asked_for_keeps_its_reason() -> None:
    not_asked = cannot_tell(Topic.GONE, Reason.NOT_OURS, "it is another's", "--pid")
    assert unless_away(not_asked, Counter(connect_refused=3)) is not_asked
    decided = decided_finding(Topic.PAUSES, "No pause was seen.")
    assert unless_away(decided, Counter()) is decided
    assert unless_away(decided, Counter(connect_refused=3)).reason is Reason.AWAY
