"""JSON, CSV and Markdown."""

import csv
import io
import json
from dataclasses import replace

from jostle.analysis.results import FORMAT, Estimate
from jostle.analysis.results.journeys import JourneyResult, StepResult
from jostle.record.verdict import Verdict
from support.golden import Golden
from support.rendered import rendered
from support.results import RUNTIMES, make_hit, make_starvation


def test_markdown(golden: Golden) -> None:
    golden("starvation.md", rendered(make_starvation(RUNTIMES[:2], bad={3: Verdict.SUSPECT}), "md"))
    golden("hit.md", rendered(make_hit(), "md"))


def test_csv(golden: Golden) -> None:
    golden("starvation.csv", rendered(make_starvation(RUNTIMES[:2], rounds=2, open_form=False), "csv"))


def test_csv_has_what_belongs_to_journeys_and_their_steps() -> None:
    time = {"p50": Estimate(0.25, 0.2, 0.3, unit="s")}
    step = StepResult("form", False, False, 9, {"ok": 9}, {}, Estimate(9.0, unit="/s"), time)
    journey = JourneyResult("node", "shop", "buy", 3, 1, 0, time, time, [step])
    rows = csv.DictReader(io.StringIO(rendered(replace(make_hit(), journeys=[journey]), "csv")))
    values = {row["metric"]: row["value"] for row in rows if row["workload"] == "shop"}
    assert values["journey buy: ended"] == "1"
    assert values["journey buy: time p50"] == "0.25"
    assert values["journey buy, step form: requests"] == "9"
    assert values["journey buy, step form: response p50"] == "0.25"


def test_json(golden: Golden) -> None:
    found = make_hit().as_json()
    for cell in found["summaries"]:  # the long lists say nothing to a reader
        for kind in ("response_distribution", "service_distribution"):
            cell[kind] = {k: v for k, v in cell[kind].items() if not isinstance(v, list)}
    for trial in found["trials"]:
        trial["timeline"] = sorted(trial["timeline"])
    golden("hit.json", json.dumps(_rounded(found), indent=2, ensure_ascii=False) + "\n")


def _rounded(value: object) -> object:
    """The last digits of sums differ from one processor to another."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list) else value


def test_json_says_its_format_and_has_only_numbers_that_json_knows() -> None:
    whole = make_hit()
    odd = replace(
        whole.summaries[0], throughput=Estimate(float("nan"), float("-inf"), float("inf"), unit="/s")
    )
    found = replace(whole, summaries=[odd]).as_json()
    assert (found["kind"], found["format"]) == ("jostle result", FORMAT)
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text)["summaries"][0]["throughput"]["value"] is None


def test_csv_is_rectangular_and_reads_back() -> None:
    result = make_starvation(rounds=2)
    rows = list(csv.DictReader(io.StringIO(rendered(result, "csv"))))
    throughput = [
        r for r in rows if r["metric"] == "throughput" and r["workload"] == "fast-only" and not r["trial"]
    ]
    assert [r["contestant"] for r in throughput] == [r.name for r in RUNTIMES]
    assert float(throughput[0]["value"]) > 0
    assert throughput[0]["unit"] == "/s"
    assert {r["metric"] for r in rows if r["form"]} >= {"starvation index", "blocking index"}


def test_csv_gives_a_spreadsheet_no_formula() -> None:
    whole = make_hit()
    cell = replace(
        whole.summaries[0], contestant="=HYPERLINK(1)", throughput=Estimate(-0.5, unit="/s", note="@x")
    )
    text = rendered(replace(whole, summaries=[cell]), "csv")
    assert "'=HYPERLINK(1)" in text
    assert ",=HYPERLINK" not in text
    assert ",-0.5," in text  # a number stays one
    assert ",'@x" in text


def test_markdown_cannot_be_broken_out_of() -> None:
    hostile = "| a |\n# b `c` <script>alert(1)</script> [x](javascript:1)"
    whole = make_hit()
    text = rendered(
        replace(
            whole,
            title=hostile,
            reasons=[hostile],
            summaries=[replace(whole.summaries[0], contestant=hostile)],
        ),
        "md",
    )
    assert "<script>" not in text
    assert "\n# b" not in text
    assert "[x](" not in text
    widths = {line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("| hit")}
    assert len(widths) == 2  # the tables of five numbers and of outcomes: no row is wider than its own
