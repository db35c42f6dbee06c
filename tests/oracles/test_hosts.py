"""Names of hosts, as the URL class of Node 20 (WHATWG URL standard, UTS 46) encodes them.

The table was made with `new URL("http://" + name + "/").hostname`; null is where it throws.
"""

import json
from pathlib import Path

import pytest

from jostle.errors import BadValue
from jostle.url import canonical_host

TABLE: list[tuple[str, str | None]] = [
    (name, encoded)
    for name, encoded in json.loads((Path(__file__).parent / "data" / "hosts_of_node_20.json").read_text())
]

NEWER_UNICODE = {"ẞ.example": "xn--zca.example", "Ⴀ.example": "xn--rkj.example"}
"""Node 20 has the tables of an older Unicode."""

NOT_IN_DNS = {
    "..example", "‥.example", "a..example", "\u3002example", "\u0660.example", "a" * 64 + ".example",
    "ü" * 60 + ".example",
}  # fmt: skip
"""Node takes what DNS cannot hold, parts that are empty or too long, and a label that begins with an Arabic
digit."""

AS_GIVEN = {"xn--.example", "xn--a.example", "xn--A-ecp.ru"}
"""What is ASCII is looked up as it was given, even if nothing can be decoded from it."""


@pytest.mark.parametrize(("name", "encoded"), TABLE)
def test_a_name_is_encoded_as_browsers_do_it(name: str, encoded: str | None) -> None:
    if name in AS_GIVEN:
        encoded = name.lower()
    expected = NEWER_UNICODE.get(name, encoded)
    if expected is None or name in NOT_IN_DNS:
        with pytest.raises(BadValue, match="host"):
            canonical_host(name)
    else:
        assert canonical_host(name) == expected
