"""Changes of a load as users write them."""

import pytest

from jostle.errors import BadValue
from jostle.plan.change import Change, read_change


@pytest.mark.parametrize(
    ("text", "change", "spec"),
    [
        ("rate=500/s", Change("rate", 500.0), {"rate": 500.0}),
        ("rate = 30/min", Change("rate", 0.5), {"rate": 0.5}),
        ("clients=1_000", Change("clients", 1000), {"clients": 1000}),
        ("clients=2k", Change("clients", 2000), {"clients": 2000}),
        ("x2", Change("scale", 2.0), {"scale": 2.0}),
        ("x0.9090909090909091", Change("scale", 1 / 1.1), {"scale": 1 / 1.1}),
        (" hold ", Change("hold"), "hold"),
        ("next", Change("next"), "next-phase"),
    ],
)
def test_each_form_is_read_and_written_back(text: str, change: Change, spec: object) -> None:
    assert read_change(text) == change
    assert change.spec() == spec
    assert read_change(str(change)) == change


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate=fast", "'fast' is not a rate"),
        ("rate=500", "'500' does not say per which time"),
        ("rate=1e999/s", "'1e999/s' is too much"),
        ("rate=0/s", "'rate=0/s' leaves no load"),
        ("rate=-5/s", "'-5/s' is not a rate"),
        ("clients=many", "'many' is not a count"),
        ("clients=1.5", "'1.5' is not a whole number"),
        ("clients=0", "'clients=0' leaves no load"),
        ("x0", "'x0' leaves no load"),
        ("xnan", "'xnan' is no change of a load"),
        ("faster", "'faster' is no change of a load"),
        ("hold=1", "'hold=1' is no change of a load"),
        ("", "'' is no change of a load"),
    ],
)
def test_what_is_none_is_told_with_how_to_write_one(text: str, message: str) -> None:
    with pytest.raises(BadValue) as refused:
        read_change(text)
    assert refused.value.message == message
    assert refused.value.hint
