"""docs/reference/python.md names every step of a journey and every option of `jostle.hit`."""

import re
from pathlib import Path

from jostle.cli.reference import files
from jostle.plan.builder import JourneyBuilder
from jostle.plan.hit import PLACES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "reference/python.md"


def test_every_call_on_a_journey_is_named() -> None:
    text = PAGE.read_text(encoding="utf-8")
    calls = [name for name in vars(JourneyBuilder) if not name.startswith("_")]
    assert [name for name in calls if not re.search(rf"`\.?{name}[`(]", text)] == []


def test_every_option_is_in_the_table_with_its_name_on_the_command_line() -> None:
    table = files(DOCS)[PAGE]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| `(.*)` \|$", table, re.MULTILINE)
    typed = {name: options for name, options, _ in rows}
    assert typed.keys() == {*PLACES, "pid"}
    assert typed["seconds"] == "`-d`, `--duration`"
    assert typed["source_addresses"] == "`--source-address`"
    assert typed["rows"] == ""
    assert ("ca", "`--cacert`", "workload.NAME.connection.tls.ca") in rows
