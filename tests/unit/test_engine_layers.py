"""The engine's stack is enforced: what points upwards, and what goes in a circle, is found."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import engine_layers  # noqa: E402

LIB = """//! An engine.
//!
//! ```text
//!  load               loops
//!  net                connections
//!  spec, outcome      what is asked for
//! ```
"""


def found(folder: Path, **files: str) -> list[str]:
    for name, text in {"lib": LIB, "spec/mod": "", "outcome": "", "net/mod": "", "load": "", **files}.items():
        path = folder / f"{name}.rs"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return engine_layers.problems(folder)


def test_a_stack_and_what_tests_use_are_fine(tmp_path: Path) -> None:
    tests = "#[cfg(test)]\nmod tests {\n    use crate::load::Loop;\n}\n"
    assert (
        found(tmp_path, load="use crate::net::{Dialer, self};\nuse crate::spec::A as B;", outcome=tests) == []
    )


@pytest.mark.parametrize(
    "use",
    [
        "use crate::load::Loop;",
        "pub(crate) use std::io;\n\nuse crate::{load::Loop};",
        "use crate::{\n    outcome::Outcome,\n    load::{self, Loop as L},\n};",
        "pub use crate::load::Loop;",
        "fn f(load: &crate::load::Loop) {}",
        "use super::super::load::Loop;",
    ],
)
def test_a_use_of_what_lies_above_is_found(use: str, tmp_path: Path) -> None:
    files = {"net/mod": "mod dial;", "net/dial": f"// A comment.\n{use}\n"}
    assert found(tmp_path, **files) == ["net::dial uses load, which is above it"]


def test_a_use_is_of_the_file_that_defines_the_name_and_not_of_who_passes_it_on(tmp_path: Path) -> None:
    passes_on = {"net/mod": "mod dial;\npub use dial::Dialer;", "net/dial": "use crate::net::linger;"}
    assert found(tmp_path, **passes_on, **{"net/linger": "use crate::net::Other;"}) == []
    circle = found(tmp_path, **passes_on, **{"net/linger": "use crate::net::Dialer;"})
    assert circle in (
        ["a circle: net::dial <- net::linger <- net::dial"],
        ["a circle: net::linger <- net::dial <- net::linger"],
    )


def test_a_folder_that_is_not_drawn_is_found(tmp_path: Path) -> None:
    assert found(tmp_path, extra="") == ["extra is not in the picture"]
