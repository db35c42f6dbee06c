"""A server that changes while it is asked: that is the first thing said."""

import re

from support.served import FAST, SLOW, Server, explained


def test_a_route_that_is_answered_otherwise_later_is_the_first_thing_said() -> None:
    said = explained(Server(workers=8, broken=lambda at: at > 20.0), FAST, SLOW)
    assert re.match(
        r"Of the requests for /fast, \d+ % \(\d+ to [\d.]+ %\) is not answered as at first: ", said.paragraph
    )
    assert "answered with 500." in said.paragraph
