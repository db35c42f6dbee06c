"""Starting a run from the page: by the form, by a plan, and what is said when they are wrong."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from jostle.record import RunRecord
from support.real import reference_server
from support.waiting import eventually
from support.web import Served, opened, web


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("started")


@pytest.fixture(scope="module")
def served(base: Path) -> Iterator[Served]:
    with web(base) as served:
        yield served


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    with reference_server("workers") as url:
        yield f"{url}/work?us=1000"


def starting(browser: Browser, served: Served, token: str | None = None) -> Page:
    return opened(browser, f"{served.url}/start#token={token or served.token}", [])


def test_the_form_starts_a_run_and_shows_it(
    browser: Browser, served: Served, base: Path, target: str
) -> None:
    page = starting(browser, served)
    page.get_by_label("URL").fill(target)
    page.get_by_label("or a rate").fill("100/s")
    page.get_by_label("for", exact=True).fill("2s")
    page.get_by_label("what must hold").fill("p99 < 5 s")
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url("**/runs/*", timeout=60_000)
    name = page.url.rpartition("/")[2]
    record = RunRecord.open(base / name)
    eventually(lambda: RunRecord.open(base / name).complete, "the run does not end", 60)
    (trial,) = RunRecord.open(base / name).trials
    due = sum(state["due"] for interval in trial.intervals for state in interval["workloads"])
    assert 120 < due < 280
    assert 'that = "p99 < 5 s"' in record.plan_text
    (plan,) = (base / "plans").glob("*.toml")
    assert plan.stat().st_mode & 0o077 == 0


def test_what_is_wrong_stands_at_its_field(browser: Browser, served: Served, target: str) -> None:
    page = starting(browser, served)
    page.get_by_label("URL").fill(target)
    rate = page.get_by_label("or a rate")
    rate.fill("fast")
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text("'fast' is not a rate").wait_for()
    assert rate.get_attribute("aria-invalid") == "true"
    assert page.evaluate("document.activeElement.id") == "rate"
    assert page.url.endswith("/start")


def test_a_plan_is_checked_as_one_types(browser: Browser, served: Served, target: str) -> None:
    page = starting(browser, served)
    page.get_by_label("URL").fill(target)
    page.get_by_role("button", name="Write it as a plan").click()
    editor, start = page.get_by_label("Or a plan"), page.get_by_role("button", name="Start the plan")
    expect(editor).to_have_value(re.compile(r"\[workload\.hit\.load\]"))
    text = editor.input_value()
    wrong = text.replace('for = "10s"', 'for = "10 apples"')
    assert wrong != text
    editor.fill(wrong)
    problem = page.get_by_role("button", name="10 apples")
    problem.wait_for()
    assert start.is_disabled()
    line = wrong.splitlines().index('for = "10 apples"') + 1
    assert problem.inner_text().startswith(f"line {line}: ")
    problem.click()
    assert page.evaluate("getSelection().toString()") == 'for = "10 apples"'
    editor.fill(text.replace('for = "10s"', 'for = "1s"'))
    problem.wait_for(state="detached")
    start.click()
    page.wait_for_url("**/runs/*", timeout=60_000)


def test_each_fault_of_a_plan_is_at_its_line(browser: Browser, served: Served, target: str) -> None:
    page = starting(browser, served)
    editor = page.get_by_label("Or a plan")
    lines = [
        'title = "x"',
        'contestants = ["it"]',
        "[contestant.it]",
        f'url = "{target.partition("/work")[0]}"',
        "[workload.a]",
        'request = [{ get = "/" }]',
        'load = { rate = "fast", for = "1s" }',
        "[[require]]",
        'that = "p99 < 3 apples"',
    ]
    editor.fill("\n".join(lines))
    for says, number in (("'fast' is not a rate", 7), ("apples", 8)):
        problem = page.get_by_role("button", name=says)
        problem.wait_for()
        assert problem.inner_text().startswith(f"line {number}: ")
        problem.click()
        assert page.evaluate("getSelection().toString()") == lines[number - 1]
    editor.fill("\n".join(lines[:-2]).replace("fast", "900000000/s"))
    problem = page.get_by_role("button", name="is beyond this machine")
    problem.wait_for()
    assert problem.inner_text().startswith("line 7: 900,000,000/s is beyond this machine: ")
    assert page.get_by_role("button", name="Start the plan").is_disabled()


def test_a_rate_beyond_the_machine_is_refused_at_its_field(
    browser: Browser, served: Served, target: str
) -> None:
    page = starting(browser, served)
    page.get_by_label("URL").fill(target)
    rate = page.get_by_label("or a rate")
    rate.fill("900000000/s")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("#rate-wrong")).to_contain_text("at most")
    assert rate.get_attribute("aria-invalid") == "true"


def test_without_the_token_nothing_starts(browser: Browser, served: Served, target: str) -> None:
    page = starting(browser, served, "wrong")
    page.get_by_label("URL").fill(target)
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text("with its token, may start a run").wait_for()


def test_why_a_run_did_not_begin_is_said(browser: Browser, served: Served) -> None:
    page = starting(browser, served)
    page.get_by_label("Or a plan").fill(
        'title = "x"\ncontestants = ["nobody-knows-it"]\n[workload.a]\n'
        'request = [{ get = "/" }]\nload = { clients = 1, for = "1s" }\n'
    )
    start = page.get_by_role("button", name="Start the plan")
    expect(start).to_be_enabled()
    start.click()
    page.get_by_text("nobody-knows-it").last.wait_for(timeout=60_000)
    assert page.url.endswith("/start")


def test_a_phone_scrolls_in_one_direction_only(browser: Browser, served: Served) -> None:
    page = opened(browser, f"{served.url}/start", [], viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
