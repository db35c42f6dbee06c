"""What is said of each fault, in the words of one who is on call: the worst first, the same every time."""

import pytest

from jostle.explain.answer import answer
from jostle.explain.documents.document import explanation_document
from jostle.explain.finding import Topic, cannot_tell, decided_finding
from jostle.explain.reason import Reason
from jostle.explain.results import Explanation
from jostle.explain.server.limits import THOROUGH
from jostle.explain.server.target import Route
from jostle.report.document import upto
from jostle.report.export import text
from support.golden import Golden
from support.light_streams import cron
from support.served import Server, explained

HELLO = Route("/hello", "fast")
REPORT, EXPORT, ORDERS, INVOICES = (
    Route(path, "slow") for path in ("/report", "/export", "/orders", "/invoices")
)
DEMANDS = {"/hello": 0.0005, "/report": 0.0064, "/export": 0.080, "/orders": 0.030, "/invoices": 0.041}
POOL = {"/orders": "pool", "/invoices": "pool"}


def server(**how: object) -> Server:
    return Server(demands=dict(DEMANDS), **how)  # type: ignore[arg-type]


FAULTS: dict[str, tuple[Server, tuple[Route, ...]]] = {
    "no fault": (server(workers=64), (HELLO, REPORT)),
    "an event loop that is blocked": (server(), (HELLO, REPORT, EXPORT)),
    "one in twenty blocks": (server(rare={"/report": (0.05, 0.075)}), (HELLO, REPORT)),
    "a pool of four": (server(workers=64, pools=POOL, slots={"pool": 4}), (HELLO, ORDERS)),
    "a pool of four that two routes share": (
        server(workers=64, pools=POOL, slots={"pool": 4}),
        (HELLO, ORDERS, INVOICES),
    ),
    "two pools of four": (
        server(workers=64, pools={"/orders": "a", "/invoices": "b"}, slots={"a": 4, "b": 4}),
        (HELLO, ORDERS, INVOICES),
    ),
    "a lock": (server(workers=64, pools=POOL, slots={"pool": 1}), (HELLO, ORDERS)),
    "a lock that is held for a part of the time": (
        server(workers=64, pools=POOL, slots={"pool": 1}, holds={"pool": 0.6}),
        (HELLO, ORDERS),
    ),
    "a queue that sheds": (
        server(workers=64, pools=POOL, slots={"pool": 2}, rooms={"pool": 3}),
        (HELLO, ORDERS),
    ),
    "requests that are given up, and worked at": (
        server(workers=64, pools=POOL, slots={"pool": 2}, patience={"pool": 0.1}),
        (HELLO, ORDERS),
    ),
    "a job every two seconds": (server(workers=64, pauses=cron(2.08, 0.080, 70.0)), (HELLO, REPORT)),
    "a job beside a pool": (
        server(workers=64, pools=POOL, slots={"pool": 4}, pauses=cron(2.08, 0.080, 70.0)),
        (HELLO, ORDERS),
    ),
    "four workers": (server(workers=4), (HELLO, EXPORT)),
    "connections of 200 requests": (server(workers=64, closes_after=200), (HELLO, REPORT)),
    "40 ms before the body": (
        Server(workers=64, delay_s=0.041, demands={"/hello": 0.0420, "/report": 0.048}),
        (HELLO, REPORT),
    ),
    "a server that goes away": (server(workers=64, away=lambda at: at > 30.0), (HELLO, REPORT)),
}


@pytest.fixture(scope="module")
def told() -> dict[str, Explanation]:
    return {name: explained(one, *routes, limits=THOROUGH) for name, (one, routes) in FAULTS.items()}


def test_each_fault_is_told_in_these_words(told: dict[str, Explanation], golden: Golden) -> None:
    lines = []
    for name, explanation in told.items():
        lines += [f"{name}:", *(f"  {part}" for part in _parts(explanation)), ""]
    golden("explain-sentences.txt", "\n".join(lines))


def _parts(explanation: Explanation) -> list[str]:
    known = (explanation.paragraph, explanation.absent, explanation.unknown, explanation.command)
    return [part.replace("\N{NO-BREAK SPACE}", " ") for part in known if part]


@pytest.mark.parametrize("name", FAULTS)
def test_a_terminal_shows_it_in_25_lines(name: str, told: dict[str, Explanation]) -> None:
    shown = text.render(explanation_document(told[name]))
    assert len(shown.splitlines()) <= 25, shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("name", FAULTS)
def test_no_word_of_the_statistics_stands_in_the_answer(name: str, told: dict[str, Explanation]) -> None:
    said = " ".join(_parts(told[name])[:2])
    for word in ("discipline", "BIC", "plug", "root mean", "likelihood", "hypergeometric"):
        assert word not in said


def test_the_worst_comes_first_and_what_no_option_tells_last() -> None:
    findings = [
        decided_finding(Topic.SERVICE_TIME, "GET /a takes 1 ms."),
        decided_finding(Topic.PAUSES, "Every 2 s it stands still.", hurts_s=0.002),
        decided_finding(Topic.BLOCKING, "/b holds up everything else.", hurts_s=0.080),
        decided_finding(Topic.RATE_LIMIT, "No limit.", absent="a rate limit below 50/s"),
        decided_finding(Topic.CACHE, "No cache.", absent="a cache"),
        cannot_tell(Topic.GONE, Reason.NOT_OURS, "x", "y", option="--pid PID"),
        cannot_tell(Topic.CPU, Reason.NOT_OURS, "x", "y", option="--pid PID"),
        cannot_tell(Topic.QUEUE_LIMIT, Reason.NOT_ASKED, "x", "y", option="--overload"),
        cannot_tell(Topic.DISCIPLINE, Reason.NOISY, "x", "y"),
    ]
    one = answer(findings, ["jostle", "explain", "http://h/a", "--slow", "/b?x=1&y=2"])
    assert one.paragraph == "/b holds up everything else. Every 2 s it stands still. GET /a takes 1 ms."
    assert one.absent == "Looked for and not found: a rate limit below 50/s and a cache."
    assert one.command == "jostle explain http://h/a --slow '/b?x=1&y=2' --pid PID --overload"
    assert one.unknown == "Cannot be told: order of service (the times vary too much)."


def test_the_json_has_each_part_of_the_answer(told: dict[str, Explanation]) -> None:
    document = explanation_document(told["a pool of four"])
    assert document.data is not None
    data = document.data()
    assert {"paragraph", "absent", "command", "unknown"} <= data.keys()
    assert [section.key for section in upto(document, document.depth).sections] == ["answer"]
