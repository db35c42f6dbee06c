"""The page: structure, order, offline, hostile text, size."""

import html.parser
import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from jostle.analysis.results import RunResult
from jostle.analysis.validity.catalogue import CATALOGUE
from jostle.record.verdict import Verdict
from jostle.report.files import write_page
from jostle.report.sections.brief import BRIEFLY
from support.rendered import rendered
from support.results import RUNTIMES, make_comparison, make_hit, make_plain, make_starvation

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028'\"{{ 7*7 }}{% raw %}"


class Page(html.parser.HTMLParser):
    """What a browser would see: elements with attributes, and text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 (the parser's own signature)
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif not self._inside:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def starvation() -> Page:
    return Page(rendered(make_starvation(bad={3: Verdict.SUSPECT}), "html"))


def test_verdict_first_then_results_then_the_rest(starvation: Page) -> None:
    sections = [a["id"] for a in starvation.all("section")]
    assert sections == ["verdict", "results", "why", "claims", "details", "plan"]
    assert {"distributions", "trials", "host", "files"} <= {a.get("id") for a in starvation.all("details")}
    text = starvation.text
    assert text.index("Suspect") < text.index("starvation index") < text.rindex("Warnings")
    assert "give the generator a core of its own" in text
    assert "572" in text
    assert "jostle race starvation --seed 7" in text


def test_every_picture_has_a_specification_a_name_and_a_table(starvation: Page) -> None:
    specs = json.loads(starvation.scripts[0])["charts"]
    figures = [a["data-chart"] for a in starvation.all("figure")]
    assert sorted(figures) == sorted(specs)
    assert {f.split("-")[0] for f in figures if f} == {
        "strips",
        "stall",
        "throughput",
        "ecdf",
        "percentiles",
        "density",
        "timeline",
    }
    named = [a["aria-label"] for a in starvation.all("div") if a.get("role") == "img"]
    assert len(named) == len(figures)
    assert all(named)
    assert starvation.text.count("These figures as a table") == len(figures)


def test_nothing_is_loaded_from_anywhere(starvation: Page) -> None:
    for tag, attributes in starvation.elements:
        assert not {"src", "srcset", "action", "data"} & set(attributes), tag
        assert (attributes.get("href") or "#").startswith("#"), tag
        assert tag not in ("link", "iframe", "object", "embed", "base", "form")
    policy = next(a for a in starvation.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert (policy["content"] or "").startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in (policy["content"] or "")


def test_links_and_labels_lead_somewhere(starvation: Page) -> None:
    ids = [a["id"] for _, a in starvation.elements if a.get("id")]
    assert len(ids) == len(set(ids))
    assert {(a["href"] or "")[1:] for a in starvation.all("a")} <= set(ids)
    assert {a["aria-labelledby"] for a in starvation.all("section") if a.get("aria-labelledby")} <= set(ids)


def hostile(whole: RunResult) -> RunResult:
    """Hostile text in every place that others can fill."""
    trials = [
        replace(t, contestant=HOSTILE, workload=HOSTILE, reason=HOSTILE, status="failed")
        for t in whole.trials[:1]
    ]
    summaries = [
        replace(c, contestant=HOSTILE, title=HOSTILE, outcomes={HOSTILE: 3}) for c in whole.summaries
    ]
    starved = [replace(s, contestant=HOSTILE, title=HOSTILE, sentence=HOSTILE) for s in whole.starvation]
    return replace(
        whole,
        title=HOSTILE,
        started=HOSTILE,
        folder=HOSTILE,
        complete=False,
        incomplete_reason=HOSTILE,
        reasons=[HOSTILE],
        trials=trials + whole.trials[1:],
        summaries=summaries,
        starvation=starved,
        contestants={HOSTILE: {"title": HOSTILE, "discipline": HOSTILE}},
        skipped={HOSTILE: HOSTILE},
        host={HOSTILE: HOSTILE, "limits": {HOSTILE: HOSTILE}},
        plan_text=HOSTILE,
        rerun=HOSTILE,
        notes=[HOSTILE],
    )


@pytest.mark.parametrize("whole", [make_starvation(RUNTIMES[:1], rounds=1), make_plain(), make_hit()])
def test_hostile_text_stays_text(whole: RunResult) -> None:
    quiet, loud = Page(rendered(whole, "html")), Page(rendered(hostile(whole), "html"))
    assert len(loud.scripts) == len(quiet.scripts) == 3
    assert loud.scripts[1:] == quiet.scripts[1:]
    assert not loud.all("img")
    assert not any(name.startswith("on") for _, a in loud.elements for name in a)
    assert "<" not in loud.scripts[0]
    assert "alert(1)" in loud.text  # it is shown, as text
    assert "{{ 7*7 }}" in loud.text


def test_a_plain_run_and_a_hit_make_sense_too() -> None:
    plain, hit = Page(rendered(make_plain(), "html")), Page(rendered(make_hit(), "html"))
    assert "starvation" not in plain.text.replace("runs/2026-11-21T18-52-34-starvation", "").replace(
        "race starvation", ""
    )
    assert "go completes 1,389/s, node 926/s." in plain.text
    assert "service" in hit.text
    assert "p99.9" in hit.text


def test_contestants_are_compared_in_pairs_with_a_picture() -> None:
    plain = make_plain()
    assert "Differences" not in Page(rendered(plain, "html")).text
    pairs = [make_comparison(), make_comparison(b=HOSTILE)]
    page = Page(rendered(replace(plain, comparisons=pairs), "html"))
    assert "comparison" in [a["id"] for a in page.all("section")]
    assert "go against node: throughput higher (+22 % [+19, +25]), p50 longer (+10 % [+7, +13])" in page.text
    assert [k for k in json.loads(page.scripts[0])["charts"] if k.startswith("shift")] == [
        "shift-1",
        "shift-2",
    ]
    assert "Cliff's delta" in page.text
    assert not page.all("img")
    alone = Page(rendered(replace(plain, comparisons=[make_comparison(rounds=1)]), "html"))
    assert not [k for k in json.loads(alone.scripts[0])["charts"] if k.startswith("shift")]
    assert "900/s" in alone.text


def test_an_empty_run_says_that_nothing_was_measured() -> None:
    empty = replace(
        make_hit(),
        summaries=[],
        trials=[],
        verdict=Verdict.INVALID,
        complete=False,
        incomplete_reason="stopped before the first trial",
    )
    page = Page(rendered(empty, "html"))
    assert "Nothing was measured" in page.text
    assert "stopped before the first trial" in page.text


def test_the_page_of_a_very_long_run_is_small() -> None:
    crowd = [replace(RUNTIMES[i % 4], name=f"server-{i}") for i in range(16)]
    whole = make_starvation(crowd, rounds=3)
    long = [
        replace(
            t.timeline,
            **{name: values * 200 for name, values in vars(t.timeline).items() if isinstance(values, list)},
        )
        for t in whole.trials
    ]
    trials = [replace(t, timeline=line) for t, line in zip(whole.trials, long, strict=True)]
    text = rendered(replace(whole, trials=trials * 20), "html")
    assert len(text.encode()) < 3_100_000


def test_headings_go_down_one_step_at_a_time(starvation: Page) -> None:
    levels = [int(tag[1]) for tag, _ in starvation.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))


def test_the_page_leads_to_the_article_and_to_the_files_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    result = replace(make_plain(), folder=str(folder), article="https://example.org/an-article")
    write_page(result, folder / "report.html")
    hrefs = [a["href"] for a in Page((folder / "report.html").read_text()).all("a")]
    assert {"https://example.org/an-article", "./plan.toml", "./trials/", "./journal.ndjson"} <= set(hrefs)
    (tmp_path / "pages").mkdir()
    write_page(result, tmp_path / "pages" / "report.html")
    hrefs = [a["href"] for a in Page((tmp_path / "pages" / "report.html").read_text()).all("a")]
    assert "../run/plan.toml" in hrefs


def test_each_distribution_is_one_picture_with_tabs_the_ecdf_first(starvation: Page) -> None:
    tabs = [a["aria-controls"] for a in starvation.all("button") if a.get("role") == "tab"]
    assert tabs == [f"panel-{kind}-form-{n}" for n in (1, 2) for kind in ("ecdf", "percentiles", "density")]
    panels = [a["id"] for a in starvation.all("div") if a.get("role") == "tabpanel"]
    assert panels == tabs


def test_a_figure_and_its_unit_stay_on_one_line() -> None:
    text = " ".join(Page(rendered(make_starvation(RUNTIMES[:1]), "html")).words)
    assert "95\N{NO-BREAK SPACE}% confidence intervals" in text
    assert not re.search(r"\d (?:ms|µs|%)[ .,]", text)


def test_the_page_replaces_an_older_one_at_once(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    write_page(make_hit(), path)
    assert re.match(r"<!doctype html>", path.read_text())
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


class FirstScreen(html.parser.HTMLParser):
    """The words that a reader sees before the first picture: without what is folded, hidden or not drawn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.captions: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self._pictures = 0
        self._drawn = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._pictures += tag == "figure"
        self._drawn |= ("class", "chart") in attrs
        hidden = tag in ("script", "style", "title", "noscript") or ("class", "skip") in attrs
        folded = tag != "summary" and bool(self._open) and self._open[-1] == ("details", False)
        if tag not in ("meta", "br"):
            self._open.append((tag, hidden or folded or bool(self._open and self._open[-1][1])))

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 (the parser's own signature)
        if self._open:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and not self._open[-1][1] and not self._drawn and self._open[-1][0] != "details":
            (self.captions if self._pictures else self.words).extend(data.split())


@pytest.mark.parametrize(
    "result",
    [
        make_starvation(bad=dict.fromkeys(range(1, 20), Verdict.SUSPECT)),
        make_plain(),
        make_hit(),
        make_hit(Verdict.INVALID),
    ],
    ids=["starvation", "plain", "hit", "invalid"],
)
def test_a_page_shows_before_it_tells(result: RunResult) -> None:
    page = rendered(result, "html")
    screen = FirstScreen(page)
    assert 3 < len(screen.captions) <= 25, "how to read a picture stands below it"
    before = [word for word in screen.words if word not in ("Results", "more")]  # hidden; a link
    assert 10 < len(before) <= 120, " ".join(before)
    assert before.index(result.verdict.capitalize()) < 12
    assert Page(page).all("figure")


def test_reasons_are_folded_behind_three_words_each() -> None:
    page = rendered(make_starvation(bad={3: Verdict.SUSPECT}), "html")
    shown = " ".join(FirstScreen(page).words)
    assert "late generator" in shown
    assert "had it been on time" not in shown
    assert "had it been on time" in Page(page).text


def test_every_check_has_three_words() -> None:
    assert {check.name for check in CATALOGUE} <= BRIEFLY.keys()
    assert all(1 <= len(words.split()) <= 3 for words in BRIEFLY.values())
    assert BRIEFLY.keys() <= {check.name for check in CATALOGUE}


def test_a_row_of_a_table_can_stand_by_itself(starvation: Page) -> None:
    """On a narrow screen a row is a card: each figure has its name, and each row its contestant."""
    cells = starvation.all("td")
    assert {"throughput", "p99", "verdict"} <= {cell.get("data-label") for cell in cells}
    assert any(cell.get("class") == "again" for cell in cells)
