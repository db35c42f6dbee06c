"""Which contestants a name means."""

import pytest

from jostle.plan.labels import resolve_label, split


@pytest.mark.parametrize(
    ("label", "parts"),
    [
        ("go", ("go", "")),
        ("go:", ("go", "")),
        ("go:procs=1,threaded", ("go", "procs=1,threaded")),
        ("jdk:path=a:b", ("jdk", "path=a:b")),
        ("a:b/go", ("a:b/go", "")),
        ("../a:b/go:procs=1", ("../a:b/go", "procs=1")),
    ],
)
def test_a_label_is_a_name_and_settings(label: str, parts: tuple[str, str]) -> None:
    assert split(label) == parts


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("haskell-warp", ["haskell-warp"]),
        ("haskell-warp:yields", ["haskell-warp:yields"]),
        ("rails", ["rails:workers=1", "rails:workers=4"]),
        ("rails:workers=1", ["rails:workers=1"]),
        ("rails:workers=2", []),
        ("./a:b/mine", ["./a:b/mine:jdk=25"]),
        ("./a", []),
        ("rail", []),
        ("", []),
    ],
)
def test_a_name_means_the_very_one_or_else_its_variants(name: str, means: list[str]) -> None:
    known = [
        "haskell-warp",
        "haskell-warp:yields",
        "rails:workers=1",
        "rails:workers=4",
        "./a:b/mine:jdk=25",
        "rails:workers=1",
    ]
    assert resolve_label(name, known) == means
