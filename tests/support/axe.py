"""axe-core, which finds what keeps people from using a page: from npm, fetched once into .tools."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from vendored import NpmPackage, Vendored, made

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["barriers"]

AXE = NpmPackage(
    "axe-core",
    "4.14.1",
    "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    "axe.min.js",
)

SCRIPT = Path(__file__).resolve().parents[2] / ".tools" / f"{AXE.name}-{AXE.version}.js"

RUN = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id} ${node.target}: ${node.failureSummary}`))"""


def barriers(page: "Page") -> list[str]:
    """What is serious or critical on the page as it is: the rule, the element, and why."""
    page.evaluate(_script())
    found: list[str] = page.evaluate(RUN)
    return found


def _script() -> str:
    if not SCRIPT.exists():
        SCRIPT.parent.mkdir(exist_ok=True)
        fetched = SCRIPT.with_suffix(f".{os.getpid()}")
        fetched.write_bytes(made(Vendored(SCRIPT, "", [AXE])))
        fetched.replace(SCRIPT)
    return SCRIPT.read_text(encoding="utf-8")
