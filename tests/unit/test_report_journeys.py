"""The report of journeys: their steps one after another, and where they end."""

from dataclasses import replace

from jostle.analysis.results import Estimate, JourneyResult, StepResult
from jostle.report.charts import Picture
from jostle.report.document import Section, Table
from jostle.report.sections.journeys import section
from support.pictures import pictures_of, validated
from support.rendered import rendered
from support.results import make_hit


def step(name: str, p50: float | None, ended: dict[str, int], *, together: bool = False) -> StepResult:
    response = {q: Estimate(p50) for q in ("p50", "p99", "max")}
    outcomes = {"ok": 1000, **ended}
    return StepResult(
        name,
        together=together,
        once=False,
        requests=1000,
        outcomes=outcomes,
        ended=ended,
        throughput=Estimate(100.0, unit="/s"),
        response=response,
    )


def pictures(steps: list[StepResult], completed: int, unfinished: int = 0) -> dict[str, Picture]:
    ended = sum(sum(step.ended.values()) for step in steps)
    time = {q: Estimate(1.0) for q in ("p50", "p99")}
    journey = JourneyResult("node", "shop", "buy", completed, ended, unfinished, time, time, steps)
    found = pictures_of(replace(make_hit(), journeys=[journey]))
    return {key: picture for key, picture in found.items() if key.startswith("journey")}


LOGIN = step("login", 0.002, {"wrong_status": 50})
ORDER = step("order", 0.01, {"capture_failed": 200, "reset": 40})


def test_the_flow_shows_where_journeys_end() -> None:
    found = pictures([LOGIN, step("search", 0.005, {}), ORDER], completed=700, unfinished=10)
    flow = found["journey-1-ends"]
    validated(flow)
    (rows,) = flow.datasets.values()
    assert [(row["name"], row["on"], row["here"]) for row in rows] == [
        ("login", 0.95, 1.0),
        ("search", 0.95, 0.95),
        ("order", 0.71, 0.95),
    ]
    assert rows[1]["text"] == ""
    assert rows[2]["text"].startswith("24 % end here: ")
    assert flow.title == "buy: 70 % are completed; order ends 24 %."


def test_a_step_begins_in_the_waterfall_where_the_one_before_it_ends() -> None:
    waterfall = pictures([LOGIN, ORDER], completed=710)["journey-1"]
    validated(waterfall)
    (rows,) = waterfall.datasets.values()
    assert [(row["name"], row["start"]) for row in rows] == [("login", 0.0), ("order", 0.002)]
    assert waterfall.title == "buy: order takes the longest of its 2 steps."
    assert pictures([LOGIN], completed=710)["journey-1"].title == "buy: login takes 2.00 ms."


def test_steps_that_are_sent_together_begin_together() -> None:
    steps = [
        step("page", 0.002, {}),
        step("style", 0.01, {}),
        step("script", 0.004, {}, together=True),
        step("more", 0.001, {}),
    ]
    waterfall = pictures(steps, completed=1000)["journey-1"]
    validated(waterfall)
    (rows,) = waterfall.datasets.values()
    begin = [(row["name"], row["start"]) for row in rows]
    assert begin == [("page", 0.0), ("style", 0.002), ("script", 0.002), ("more", 0.012)]


def test_there_is_no_picture_of_what_did_not_happen() -> None:
    assert set(pictures([step("search", 0.005, {})], completed=10)) == {"journey-1"}
    assert set(pictures([step("search", None, {"reset": 10})], completed=0)) == {"journey-1-ends"}


def test_contestants_stand_side_by_side_at_each_step() -> None:
    time = {q: Estimate(1.0) for q in ("p50", "p99")}
    found = [
        JourneyResult(name, "shop", "buy", 10, 0, 0, time, time, [LOGIN, ORDER]) for name in ("node", "go")
    ]
    journeys = section(replace(make_hit(), journeys=found))
    (compared,) = [block for block in journeys.blocks if isinstance(block, Section) and block.title]
    assert compared.title == "buy: steps (shop)"
    table, *pictures = compared.blocks
    assert isinstance(table, Table)
    assert [row[:2] for row in table.rows] == [
        ("login", "node"), ("login", "go"), ("order", "node"), ("order", "go"),
    ]  # fmt: skip
    assert [(part.title, part.folded) for part in pictures if isinstance(part, Section)] == [
        ("buy: steps (node, shop)", True),
        ("buy: steps (go, shop)", True),
    ]


def test_steps_show_the_statuses_of_their_right_responses_if_there_are_several_or_redirects() -> None:
    def shown(statuses: dict[str, int]) -> str:
        steps = [step("page", 0.002, {}), replace(step("login", 0.002, {}), statuses=statuses)]
        time = {q: Estimate(1.0) for q in ("p50", "p99")}
        journey = JourneyResult("node", "shop", "buy", 10, 0, 0, time, time, steps)
        return rendered(replace(make_hit(), journeys=[journey]), "md")

    assert "| login | 900 × 200, 100 × 302 |" in shown({"200": 900, "302": 100})
    assert "how they ended" not in shown({"200": 1000})


def test_steps_have_the_figures_of_requests_and_say_which_journeys_they_ended() -> None:
    time = {q: Estimate(1.0) for q in ("p50", "p99")}
    journey = JourneyResult("node", "shop", "buy", 710, 290, 0, time, time, [LOGIN, ORDER])
    text = rendered(replace(make_hit(), journeys=[journey]), "md")
    assert "| step | requests | throughput | p50 | p95 | p99 | longest | failed |" in text
    assert "| order | 1,000 | 100/s | 10.0 ms |" in text
    assert "| order |  | 200 × capture failed, 40 × reset | 240 (24 %) |" in text.replace("\\", "")
