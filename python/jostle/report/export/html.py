"""The page: a single file that works offline; and its first part as an HTML fragment for a notebook.

Nothing that comes from a server, a URL or a plan can run as code: the template escapes text, data is in a
script element that is not executed, with every "<" escaped, and the page's content security policy allows
only the two scripts whose hashes it lists, and no loading of anything.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any, get_args

import jinja2
from markupsafe import Markup

from jostle.formatting import Formatted
from jostle.record.outcomes import Outcome, outcome_label
from jostle.report.charts import CONFIG, Picture
from jostle.report.document import Block, Depth, Document, Mark, figures_in, trials_in, upto
from jostle.text import tied

__all__ = ["fragment", "render"]

IN_A_LINE = 60
"""Characters of what the verdict touches, beside the verdict."""

MAX_CARDS = 40
"""On a narrow screen, a table of more rows than this stays one, as nobody reads so many cards."""


MODULES = ("units", "quantiles", "columns", "marks", "heat_map", "trial_figure", "report_trials")
"""Of `report/scripts`, each after those that it imports. `jostle web` serves the same files."""

LABELS = {kind.value: outcome_label(kind) for kind in Outcome}


def render(document: Document) -> str:
    """The whole page as text."""
    pictures = _drawn(document)
    library, script = _asset("vega.js"), _asset("page.js")
    trials = next((block.read() for block in trials_in(document.sections)), [])
    modules = inlined(MODULES) if trials else ""
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            document=upto(document, Depth.DETAIL),
            pictures=pictures,
            specs=_json_for_script({"config": CONFIG, "charts": {k: p.spec() for k, p in pictures.items()}}),
            trials=_json_for_script({"labels": LABELS, "trials": trials}) if trials else "",
            library=Markup(library),
            script=Markup(script),
            modules=Markup(modules),
            style=Markup(_asset("page.css")),
            hashes=[_hash(one) for one in (library, script, modules) if one],
        )
    )


def fragment(document: Document) -> str:
    """The answer, without pictures and scripts."""
    template = _environment().get_template("fragment.html.j2")
    return template.render(document=upto(document, Depth.ANSWER), pictures={})


def _drawn(document: Document) -> dict[str, Picture]:
    """All pictures of the document that have something to show, by key."""
    drawn = ((figure.key, figure.draw()) for figure in figures_in(document.sections))
    return {key: picture for key, picture in drawn if picture is not None}


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["tied"] = tied
    environment.filters["sentences"] = _first_and_rest
    environment.filters["in_a_line"] = _in_a_line
    environment.globals["most_cards"] = MAX_CARDS
    # A name that the document does not have is a mistake in a template, and no block that is passed over.
    kinds = {made.__name__: made for made in (*get_args(Block), Formatted, Mark)}
    environment.tests["kind"] = lambda value, name: isinstance(value, kinds[name])
    return environment


def _first_and_rest(text: str) -> tuple[str, str]:
    """The first sentence, or the part of it before a semicolon, and what follows it."""
    found = re.search(r"[.;] ", text)
    return (text[: found.start()] + ".", text[found.end() :]) if found else (text, "")


def _in_a_line(text: str) -> str:
    """The first sentence; if that is long, without what stands in brackets."""
    first, _ = _first_and_rest(text)
    return first if len(first) <= IN_A_LINE else re.sub(r" \([^()]*\)", "", first)


def _json_for_script(value: Any) -> Markup:
    """JSON that can neither end the script element that contains it nor break a line of JavaScript."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def inlined(modules: Sequence[str]) -> str:
    """ECMAScript modules as one script, which needs no address to import from; names must differ."""
    texts = (_text("scripts", f"{name}.js") for name in modules)
    bodies = (re.sub(r"^import .*\n|^export ", "", text, flags=re.MULTILINE) for text in texts)
    return '"use strict";\n(() => {\n' + "\n".join(bodies) + "})();\n"


def _asset(name: str) -> str:
    return _text("templates", name)


def _text(folder: str, name: str) -> str:
    return (resources.files("jostle.report") / folder / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
