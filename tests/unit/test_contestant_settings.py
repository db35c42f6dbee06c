"""Labels: `name:key=value,flag`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle.contestant.settings import canonical, read_settings
from jostle.errors import PlanError, UnknownName
from jostle.plan.servers.contestant import Variant, VariantValue

VARIANTS = {
    "procs": Variant(default=2),
    "threaded": Variant(default=False),
    "yields": Variant(default=True),
    "load": Variant(default=0.5),
    "jdk": Variant(default="25"),
}
DEFAULTS: dict[str, VariantValue] = {"procs": 2, "threaded": False, "yields": True, "load": 0.5, "jdk": "25"}


@pytest.mark.parametrize(
    ("label", "changed"),
    [
        ("go", {}),
        ("go:", {}),
        ("go:procs=4", {"procs": 4}),
        ("go:threaded, procs=4", {"threaded": True, "procs": 4}),
        ("go:yields=off", {"yields": False}),
        ("go:load=2.5,jdk=17", {"load": 2.5, "jdk": "17"}),
        ("../a:b/go:procs=1", {"procs": 1}),
    ],
)
def test_values_have_the_type_of_the_default(label: str, changed: dict[str, VariantValue]) -> None:
    assert read_settings(label, VARIANTS) == DEFAULTS | changed


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("go:procs=x", "'procs' is a whole number from 0 on, not 'x'"),
        ("go:procs=-1", "'procs' is a whole number from 0 on, not '-1'"),
        ("go:procs", "'procs' needs a value\nfor example procs=2"),
        ("go:jdk=", "'jdk' needs a value"),
        ("go:load=nan", "'load' is a number from 0 on"),
        ("go:threaded=perhaps", "'threaded' is on or off"),
        ("go:procs=1,procs=2", "gives 'procs' twice"),
    ],
)
def test_values_that_cannot_be(label: str, told: str) -> None:
    with pytest.raises(PlanError) as caught:
        read_settings(label, VARIANTS)
    assert told in str(caught.value)


def test_an_unknown_variant_offers_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        read_settings("go:proc=1", VARIANTS)
    assert str(caught.value) == "there is no variant 'proc' of go\ndid you mean 'procs'?"


@given(
    st.fixed_dictionaries(
        {
            "procs": st.integers(0, 2**31 - 1),
            "threaded": st.booleans(),
            "yields": st.booleans(),
            "load": st.floats(0, 1e6),
            "jdk": st.text("abc.17-", min_size=1),
        }
    )
)
def test_the_canonical_label_says_it_all_and_no_more(values: dict[str, VariantValue]) -> None:
    label = canonical("go", values, VARIANTS)
    assert read_settings(label, VARIANTS) == values
    assert canonical("go", DEFAULTS, VARIANTS) == "go"
