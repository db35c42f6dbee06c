"""`[[claim]]`: refused in plans where it cannot be judged, decided by whole intervals, told everywhere."""

import io
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from jostle import roster
from jostle.analysis import metrics
from jostle.analysis.judge.claims import Measurements, missing
from jostle.analysis.results import ClaimResult, Estimate, RunResult
from jostle.analysis.results.rule import Rule
from jostle.analysis.run import analyse
from jostle.analysis.stats.forecast import rounds_to_decide
from jostle.analysis.stats.over_rounds import AtLeast, ratio_of_rounds
from jostle.errors import PlanError
from jostle.plan import parse_plan, to_toml
from jostle.plan.criteria.claims import Needs, Part, same_size
from jostle.plan.criteria.metrics import INDICES, METRICS
from jostle.plan.overrides import Overrides
from jostle.record import RunRecord
from jostle.report.sections.published import claims, tally
from support.rendered import print_result, rendered
from support.synthetic import STARVATION_PLAN, Request, Trial, closed, make_run, starvation_trials

PLAN = STARVATION_PLAN.format(rounds=5).partition("[published]")[0]

PUBLISHED = """
[published]
source = "A. Author, Concurrency, 1 April 2016"
url = "https://example.org/concurrency"
setup = "two cores\\nNode 6"

[[published.figures]]
contestant = "node"
workload = "fast-only"
metric = "throughput"
value = 572
unit = "requests/5 s"

[[published.figures]]
contestant = "node"
workload = "fast-only"
metric = "p50"
value = 8.7
unit = "ms"
note = "by hand"

[[published.figures]]
contestant = "node"
workload = "fast-only"
metric = "max"
value = 12
unit = "ms"

[[published.figures]]
contestant = "rust-axum"
workload = "fast-only"
metric = "p50"
value = 1
unit = "ms"
"""

CLAIMS = """
[[claim]]
says = "One slow request takes most of Node's throughput"
published = "572 requests in 5 s alone, 114 beside a slow one"
holds = [
    { metric = "starvation index", contestant = "node", workload = "fast-with-slow", above = 0.3 },
    { metric = "throughput", contestant = "node", workload = "fast-only", above = 1 },
]

[[claim]]
says = "Go starves too"
holds = [
    { metric = "starvation index", contestant = "go", workload = "fast-with-slow", above = 0.5 },
    { metric = "p50", contestant = "rust-axum", workload = "fast-only", below = 1 },
]

[[claim]]
says = "Rust is quick"
holds = [{ metric = "p50", contestant = "rust-axum", workload = "fast-only", below = 1 }]

[[claim]]
says = "Node waits a hundred times longer than Go"
holds = [
    { metric = "max", contestant = "node", workload = "stream", above = 9, against.contestant = "go" },
]
"""


def run(folder: Path, rounds: int = 5, claims: str = CLAIMS) -> RunResult:
    made = make_run(folder, starvation_trials(rounds), plan_text=PLAN + PUBLISHED + claims)
    return analyse(RunRecord.open(made))


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return run(tmp_path_factory.mktemp("runs"))


def claim(result: RunResult, says: str) -> ClaimResult:
    (found,) = [c for c in result.claims if c.statement.startswith(says)]
    return found


RULES = [  # rule, estimate, verdict
    ({"above": 2}, Estimate(3, 2.5, 3.5), "holds"),
    ({"above": 2}, Estimate(1, 0.5, 1.5), "fails"),
    ({"above": 2}, Estimate(2.1, 1.5, 2.7), "undecided"),
    ({"above": 2}, Estimate(3, 3, None, bound="≥"), "holds"),
    ({"above": 2}, Estimate(1, 1, None, bound="≥"), "undecided"),
    ({"below": 2}, Estimate(1, 0.5, 1.5), "holds"),
    ({"below": 2}, Estimate(3, 2.5, 3.5), "fails"),
    ({"below": 2}, Estimate(3, 3, None, bound="≥"), "fails"),
    ({"below": 2}, Estimate(1, 1, None, bound="≥"), "undecided"),
    ({"between": [1, 2]}, Estimate(1.5, 1.2, 1.8), "holds"),
    ({"between": [1, 2]}, Estimate(1.9, 1.7, 2.1), "undecided"),
    ({"between": [1, 2]}, Estimate(3, 2.1, 4), "fails"),
    ({"between": [1, 2]}, Estimate(0.5, 0.2, 0.8), "fails"),
    (
        {"above": 0.0},
        Estimate(0.0, 0.0, 0.002),
        "undecided",
    ),  # nothing failed: no evidence that something does
    ({"above": 1}, Estimate(1, 1, 1), "fails"),
    ({"below": 1}, Estimate(1, 1, 1), "fails"),
    ({"between": [0.9, 1]}, Estimate(0.97, 0.95, 1.0), "holds"),
    ({"above": 2}, Estimate(3, note="one round"), "undecided"),
    ({"above": 2}, Estimate(None, note="nothing"), "undecided"),
]


@pytest.mark.parametrize(("rule", "estimate", "verdict"), RULES)
def test_the_whole_interval_decides(rule: dict[str, object], estimate: Estimate, verdict: str) -> None:
    part = Part.model_validate({"metric": "p50", "contestant": "node", "workload": "w"} | rule)
    assert Rule(*part.limits).judge(estimate) == verdict


SIZES = [  # published, as a ratio, from, to
    (1.15, True, 1.072, 1.3225),  # 15 % more: 7 % to 32 %
    (1.88, True, 1.371, 2.82),  # about twice: no more than half as much again
    (0.436, True, 0.2907, 0.654),
    (0.9, True, 0.81, 0.949),
    (1.0, True, 0.667, 1.5),
    (1650.0, False, 1100, 2475),
]


@pytest.mark.parametrize(("published", "ratio", "low", "high"), SIZES)
def test_the_same_size_is_one_rule_for_all(published: float, ratio: bool, low: float, high: float) -> None:
    assert same_size(published, ratio=ratio) == pytest.approx((low, high), rel=1e-3)


SIZED = [  # how much longer the second contestant takes, round by round; its verdict where 15 % was published
    ([1.15, 1.16, 1.14], "reproduced"),
    ([1.98, 2.0, 1.96], "same direction, other size"),
    ([1.02, 1.021, 1.02], "same direction, other size"),
    ([1.2, 1.35, 1.05], "undecided"),  # the direction is plain, the size is not
    ([0.9, 0.91, 0.9], "not reproduced"),
    ([0.8, 1.2, 1.0], "undecided"),
]


@pytest.mark.parametrize(("ratios", "verdict"), SIZED)
def test_a_number_is_judged_on_both_sides(tmp_path: Path, ratios: list[float], verdict: str) -> None:
    found = judged_sides(tmp_path, ratios, "published = 1.15")
    assert found.verdict == verdict
    assert "(published: 1.15)" in found.sentence
    assert found.criteria[0].published == 1.15
    assert found.criteria[0].size == "between 1.07 and 1.32"


def test_what_lacks_a_precondition_cannot_be_told_whatever_was_measured(tmp_path: Path) -> None:
    few = judged_sides(tmp_path / "few", [1.98, 2.0, 1.96], "", "needs = { server-cores = 8 }")
    assert (few.verdict, few.sentence) == ("undecided", "It needs 8 server cores, but had 1.")
    assert few.criteria[0].verdict == "undecided"
    assert few.criteria[0].estimate.value == pytest.approx(1.98, rel=0.01)  # it is shown all the same
    enough = judged_sides(tmp_path / "enough", [1.98, 2.0, 1.96], "", "needs = { server-cores = 1 }")
    assert enough.verdict == "reproduced"


def test_the_cores_of_a_server_that_jostle_did_not_start_are_not_known(tmp_path: Path) -> None:
    elsewhere = judged_sides(tmp_path, [1.98, 2.0, 1.96], "", "needs = { server-cores = 8 }", shared=None)
    assert elsewhere.verdict == "reproduced"


class OnTwoCores(Measurements):
    def cores(self, key: tuple[str, str]) -> list[int]:
        return [2, 2] if key in self.grouped else []


NEEDS = [
    ({"server-cores-at-most": 1}, "needs at most 1 server core, but had 2"),
    ({"server-cores-at-most": 2}, ""),
    ({"server-cores": 2}, ""),
    ({"server-cores": 8}, "needs 8 server cores, but had 2"),
]


@pytest.mark.parametrize(("needs", "lacking"), NEEDS)
@pytest.mark.parametrize("workload", ["hello", "crowd, which was not measured"])
def test_cores_may_be_too_few_and_too_many(needs: dict[str, int], lacking: str, workload: str) -> None:
    measured = OnTwoCores({("go", "hello"): []}, {}, [], {}, {})
    assert missing(Needs.model_validate(needs), [("go", workload)], measured) == lacking


def test_a_check_of_our_own_holds_or_does_not(tmp_path: Path) -> None:
    holds = judged_sides(tmp_path / "holds", [1.98, 2.0, 1.96], "", "ours = true")
    not_so = judged_sides(tmp_path / "not", [0.8, 0.81, 0.8], "", "ours = true")
    assert (holds.verdict, not_so.verdict) == ("holds", "does not hold")
    assert tally([holds, not_so]) == "2 checks of our own: 1 holds, 1 does not hold (b takes longer)"
    assert tally([holds, holds]) == "2 checks of our own: 2 hold"
    assert claims([holds]).items[0].text == "Our check: b takes longer"


@pytest.mark.parametrize(
    ("why_not", "verdict", "sentence"),
    [
        ("", "reproduced", ""),
        (
            "nobody may",
            "undecided",
            "It needs a limit of the server's memory, which could not be set: nobody may.",
        ),
    ],
)
def test_a_limit_of_memory_that_was_not_set_decides_nothing(
    tmp_path: Path, why_not: str, verdict: str, sentence: str
) -> None:
    limit = {"memory_limit": {"bytes": 512_000_000, "why_not": why_not}}
    found = judged_sides(tmp_path, [1.98, 2.0, 1.96], "", "needs = { memory-limit = true }", limit)
    assert found.verdict == verdict
    assert sentence in found.sentence


@pytest.mark.parametrize(
    ("has", "verdict", "sentence"),
    [("900ms", "reproduced", ""), ("2s", "undecided", "It needs think = 900ms, but it is 2s.")],
)
def test_a_claim_about_another_load_is_not_judged(
    tmp_path: Path, has: str, verdict: str, sentence: str
) -> None:
    needs = 'needs = { parameters = { think = "900ms" } }'
    parameters = f'[parameters]\nthink = "{has}"\n'
    found = judged_sides(tmp_path, [1.98, 2.0, 1.96], "", needs, head=parameters)
    assert found.verdict == verdict
    assert sentence in found.sentence


@pytest.mark.parametrize(
    ("host", "verdict", "sentence"),
    [
        ("", "undecided", "It needs generators on other machines (--cluster)."),
        ("10.0.0.2", "reproduced", ""),
        (None, "reproduced", ""),
    ],
)
def test_what_needs_a_network_is_not_judged_on_one_machine(
    tmp_path: Path, host: str | None, verdict: str, sentence: str
) -> None:
    found = judged_sides(tmp_path, [1.98, 2.0, 1.96], "", "needs = { network = true }", host=host)
    assert found.verdict == verdict
    assert sentence in found.sentence


def test_a_parameter_that_a_claim_needs_must_exist() -> None:
    needs = 'needs = { parameters = { thnk = "900ms" } }'
    plan = f"""
title = "t"
contestants = ["node"]
[parameters]
think = "900ms"
[workload.w]
request = {{ get = "/" }}
load = {{ clients = 1, for = "1s" }}
[[claim]]
says = "fast"
{needs}
holds = [{{ metric = "p50", contestant = "node", workload = "w", below = 1 }}]
"""
    with pytest.raises(PlanError, match=r"claim\.1\.needs: there is no parameter 'thnk'"):
        parse_plan(plan, "p")


def judged_sides(
    folder: Path,
    ratios: list[float],
    part: str,
    keys: str = "",
    server: dict[str, object] | None = None,
    *,
    shared: bool | None = False,
    host: str | None = None,
    head: str = "",
) -> ClaimResult:
    """The claim that b takes longer than a, of rounds in which it takes so many times as long."""
    trials = [
        Trial(
            name,
            "hello",
            n,
            closed(lambda _, took=took: took, 5.0),
            server=server or {},
            shared=shared,
            host=host,
        )
        for n, ratio in enumerate(ratios, 1)
        for name, took in (("a", 0.002), ("b", 0.002 * ratio))
    ]
    part = ", ".join(filter(None, ['above = 1.0, against = { contestant = "a" }', part]))
    text = f"""
title = "two"
contestants = ["a", "b"]
{head}
[[claim]]
says = "b takes longer"
{keys}
holds = [{{ metric = "service p50", contestant = "b", workload = "hello", {part} }}]
"""
    (found,) = analyse(RunRecord.open(make_run(folder, trials, plan_text=text))).claims
    return found


def test_all_must_hold_and_one_failure_is_enough(judged: RunResult) -> None:
    reproduced = claim(judged, "One slow")
    assert reproduced.verdict == "reproduced"
    assert [part.verdict for part in reproduced.criteria] == ["holds", "holds"]
    assert "starvation index of node (fast-with-slow) is " in reproduced.sentence
    assert "above 0.3" in reproduced.sentence
    failed = claim(judged, "Go starves")
    assert failed.verdict == "not reproduced"  # though its other part was not measured
    assert "is not above 0.5" in failed.sentence
    assert "rust" not in failed.sentence
    assert claim(judged, "Rust").verdict == "undecided"
    assert claim(judged, "Rust").sentence == "rust-axum was not measured."
    assert claim(judged, "Rust").absent == ["rust-axum"]
    assert failed.absent == []


def test_a_ratio_is_paired_by_round(judged: RunResult) -> None:
    (part,) = claim(judged, "Node waits").criteria
    assert part.subject == "max of node (stream) ÷ max of go (stream)"
    assert part.rule == "above 9"
    assert part.estimate.value is not None
    assert part.estimate.n == 5


def test_one_round_says_how_many_it_needs(tmp_path: Path) -> None:
    found = claim(run(tmp_path, rounds=1), "One slow")
    assert found.verdict == "undecided"
    assert "needs at least 3 rounds, preferably 5" in found.sentence


def test_ratios_of_rounds() -> None:
    found = ratio_of_rounds([2.0, 4.0, 8.0], [1.0, 2.0, 4.0])
    assert (found.value, found.low, found.high) == pytest.approx((2, 2, 2), rel=0.01)
    assert ratio_of_rounds([2.0, AtLeast(4.0)], [1.0, 2.0]).bound == "≥"
    bounded = ratio_of_rounds([AtLeast(1.0), *[20.0] * 6], [1.0] * 7)  # the first may be like the others
    assert bounded.bound == "≥"
    assert bounded.low is not None
    assert bounded.low > 1.5
    assert "in 1 of 3 rounds" in ratio_of_rounds([2.0, 4.0, None], [1.0, 1.0, 1.0]).note
    assert ratio_of_rounds([2.0, 4.0], [1.0, AtLeast(2.0)]).value is None
    assert ratio_of_rounds([2.0, 4.0], [1.0, None]).value is None
    assert ratio_of_rounds([2.0, 0.0], [1.0, 1.0]).note == "zero in some round"
    assert ratio_of_rounds([3.0], [1.0]).low is None
    assert ratio_of_rounds([], []).value is None


def test_a_claim_of_many_parts_fails_only_by_an_interval_that_allows_for_them_all(tmp_path: Path) -> None:
    """Barely below the limit: one part alone fails, twelve of it cannot tell."""
    levels = [1.0, 1.1, 0.9, 1.05, 0.95]
    trials = [
        Trial("node", "fast-only", number, closed(lambda _, level=level: 0.002 * level, 5.0))
        for number, level in enumerate(levels, 1)
    ]
    part = '{ metric = "p50", contestant = "node", workload = "fast-only", above = 0.0023 }'
    verdicts, sentences, rounds = [], [], tuple[float, ...]()
    for parts in (1, 12):
        text = (
            PLAN.split("[[claim]]")[0]
            + f'\n[[claim]]\nsays = "slow"\nholds = [{", ".join([part] * parts)}]\n'
        )
        folder = make_run(tmp_path / str(parts), trials, plan_text=text)
        (found,) = analyse(RunRecord.open(folder)).claims
        verdicts.append(found.verdict)
        sentences.append(found.sentence)
        rounds = found.criteria[0].estimate.rounds
    assert verdicts == ["not reproduced", "undecided"]
    wanted, too_few = (rounds_to_decide(rounds, 0.0023, level) for level in (1 - 0.05 / 12, 0.95))
    assert wanted is not None
    assert wanted != too_few
    assert f"a new run of {wanted[0]} to {wanted[1]} rounds would probably decide it" in sentences[1]


def test_no_number_of_rounds_is_foretold_for_a_share_of_requests(tmp_path: Path) -> None:
    """Its interval depends on how many requests there are: from rounds alone, 3 or 4 would decide this."""

    def failing(request: Request, index: int) -> Request:
        return request if index % 20 else replace(request, outcome="wrong_status")

    trials = []
    for number, level in enumerate([1.0, 1.1, 0.9, 1.05, 0.95], 1):
        trial = Trial("node", "fast-only", number, closed(lambda _, level=level: 0.002 * level, 5.0))
        requests = [failing(request, index) for index, request in enumerate(trial.requests)]
        trials.append(replace(trial, requests=requests))
    part = '{ metric = "errors", contestant = "node", workload = "fast-only", above = 0.0495 }'
    text = f'{PLAN.split("[[claim]]")[0]}\n[[claim]]\nsays = "fails"\nholds = [{part}]\n'
    (found,) = analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=text))).claims
    assert found.verdict == "undecided"
    assert rounds_to_decide(found.criteria[0].estimate.rounds, 0.0495) == (3, 4)
    assert found.sentence.endswith("; whether it is above 4.95 % is undecided.")


def test_an_index_from_invalid_trials_on_either_side_decides_nothing(tmp_path: Path) -> None:
    """Hardly a right response in the trials without slow requests spoils what is compared with them."""

    def spoiled(trial: Trial) -> Trial:
        if (trial.contestant, trial.workload) != ("node", "fast-only"):
            return trial
        wrong = [replace(r, outcome="wrong_status") if i % 50 else r for i, r in enumerate(trial.requests)]
        return replace(trial, requests=wrong)

    text = """
[[claim]]
says = "One slow request takes most of Node's throughput"
holds = [{ metric = "starvation index", contestant = "node", workload = "fast-with-slow", above = 0.3 }]
"""
    made = make_run(tmp_path, list(map(spoiled, starvation_trials(5))), plan_text=PLAN + text)
    (found,) = analyse(RunRecord.open(made)).claims
    assert found.verdict == "undecided"
    assert found.sentence.startswith("the figure of node (fast-only) is invalid (")


def test_every_quantity_is_measured() -> None:
    assert {*metrics.VALUE_OF, *INDICES} == {*METRICS}


def test_a_claim_on_one_that_was_skipped_is_not_judged_by_its_variants(judged: RunResult) -> None:
    summaries = {(name, "fast"): judged.summaries[0] for name in ("rails:workers=1", "go")}
    reasons = {"rails:workers=4": "no ruby", "warp": "no ghc", "go:procs=1": "no"}
    measured = Measurements({}, summaries, [], reasons, {})
    assert measured.resolve_label("rails") == ["rails:workers=1"]
    assert measured.resolve_label("go") == ["go"]
    assert measured.resolve_label("warp") == ["warp"]
    assert measured.resolve_label("rust") == ["rust"]
    summaries["warp:yields", "fast"] = judged.summaries[0]
    skipped = Measurements({}, summaries, [], reasons, {})
    assert skipped.resolve_label("warp") == ["warp"]


REFUSED = [
    (
        '{ metric = "p9", contestant = "node", workload = "fast-only", above = 1 }',
        "does not measure 'p9'",
        "p90",
    ),
    ('{ metric = "p50", contestant = "nod", workload = "fast-only", above = 1 }', "'nod'", "node"),
    ('{ metric = "p50", contestant = "node", workload = "fast", above = 1 }', "'fast'", "fast-only"),
    ('{ metric = "p50", contestant = "node", workload = "fast-only" }', "a rule is missing", "exactly one"),
    (
        '{ metric = "p50", contestant = "node", workload = "fast-only", above = 1, below = 2 }',
        "above and below together",
        "exactly one",
    ),
    (
        '{ metric = "p50", contestant = "node", workload = "fast-only", above = 1, published = 0.5 }',
        "does not satisfy the rule beside it",
        "not the article's",
    ),
    (
        '{ metric = "p50", contestant = "node", workload = "fast-only", above = -1, published = 0 }',
        "has no size",
        "leave published out",
    ),
    (
        '{ metric = "p50", contestant = "node", workload = "fast-only", between = [2, 1] }',
        "not an interval",
        "ascending",
    ),
    (
        '{ metric = "p50", contestant = "node", workload = "fast-only", against = {}, above = 1 }',
        "against itself",
        "differs",
    ),
    (
        '{ metric = "p50", contestant = "node", workload = "fast-only",'
        ' against = { metric = "memory" }, above = 1 }',
        "their units differ",
        "like with like",
    ),
    (
        '{ metric = "starvation index", contestant = "node", workload = "fast-with-slow",'
        ' against = { contestant = "go" }, above = 1 }',
        "an index is a ratio already",
        "each",
    ),
    (
        '{ metric = "starvation index", contestant = "node", workload = "slow-alone", above = 0 }',
        "no [[starvation]] of this plan",
        "[[starvation]]",
    ),
]


@pytest.mark.parametrize(("part", "says", "hint"), REFUSED)
def test_what_cannot_be_judged_is_refused_with_a_remedy(part: str, says: str, hint: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(
            PLAN + f'[[claim]]\nsays = "x"\nholds = [{part}]\n', "plan.toml", environment=roster.environment()
        )
    assert "claim.1.holds.1" in caught.value.message
    assert says in caught.value.message
    assert hint in caught.value.hint


def test_figures_need_a_source() -> None:
    text = PLAN + PUBLISHED.replace("A. Author, Concurrency, 1 April 2016", "")
    with pytest.raises(PlanError, match="figures without a source"):
        parse_plan(text, "plan.toml")


def test_a_plan_with_claims_is_written_and_read_again() -> None:
    plan = parse_plan(PLAN + PUBLISHED + CLAIMS, "plan.toml")
    again = parse_plan(to_toml(plan), "again")
    assert (again.claim, again.published) == (plan.claim, plan.published)
    only_go = plan.changed(Overrides(contestants=["go"]))  # claims about others stay: they cannot be told
    assert len(only_go.claim) == 4


def test_claims_and_set_up_stand_in_every_form(judged: RunResult) -> None:
    out = io.StringIO()
    print_result(judged, Console(file=out, width=80))
    assert len(out.getvalue().splitlines()) <= 35
    assert "1 reproduced, 2 not reproduced (Go starves too; Node waits" in " ".join(out.getvalue().split())
    print_result(judged, Console(file=out, width=80), full=True)
    terminal = out.getvalue()
    assert max(map(len, terminal.splitlines())) <= 80
    assert "✓ reproduced: One slow request takes most of Node's throughput" in terminal
    assert "✗ not reproduced: Go starves too" in terminal
    page, markdown = rendered(judged, "html").replace("\N{NO-BREAK SPACE}", " "), rendered(judged, "md")
    for text in (page, markdown):
        assert "two cores" in text
        assert "loopback" in text
        assert "572 requests/5 s (114/s)" in text
        assert "not measured" in text
        assert "by hand" in text
    assert page.index('id="results"') < page.index('id="claims"')
    rows = rendered(judged, "csv").splitlines()
    assert any(",claim 1,reproduced," in row for row in rows)
    cases = ET.fromstring(rendered(judged, "junit")).findall("testsuite[@name='published claims']/testcase")
    assert [case.find("skipped") is not None for case in cases] == [False, False, True, False]
    assert not any(case.find("failure") is not None for case in cases)
    data = judged.as_json()
    assert [c["verdict"] for c in data["claims"]][:3] == ["reproduced", "not reproduced", "undecided"]
    assert dict(data["setup"])["rounds"] == "5"


def test_published_figures_stand_beside_the_same_quantity(judged: RunResult) -> None:
    throughput, median, largest, absent = judged.published
    assert throughput.measured is not None
    assert throughput.measured.n == 5
    assert median.measured is not None
    assert largest.measured is not None
    assert (median.measured.value or 0) < (largest.measured.value or 0)
    assert absent.measured is None


def test_the_article_can_be_followed_and_only_to_a_web_address(judged: RunResult, tmp_path: Path) -> None:
    assert judged.article == "https://example.org/concurrency"
    script = PLAN + PUBLISHED.replace("https://example.org/concurrency", "javascript:alert(1)")
    assert analyse(RunRecord.open(make_run(tmp_path, starvation_trials(2), plan_text=script))).article == ""


def test_what_is_left_beside_a_slow_request_is_told_within_one_trial(tmp_path: Path) -> None:
    """Blocked from 1 s to 3 s of 5: nothing is left meanwhile, however long that was."""
    slow = Request(1.0, 1.0, 3.0, workload=1)
    trials = [
        Trial(
            name,
            "beside",
            number,
            [*closed(lambda _: 0.002, 5.0, blocked=[(1.0, 3.0)] if name == "blocks" else []), slow],
            background={"closed": {"clients": 1, "requests": 1}},
        )
        for number in (1, 2, 3)
        for name in ("blocks", "shares")
    ]
    parts = [
        '{ metric = "throughput left", contestant = "blocks", workload = "beside", below = 0.05 }',
        '{ metric = "throughput left", contestant = "shares", workload = "beside", above = 0.9 }',
    ]
    text = f'title = "t"\n[[claim]]\nsays = "x"\nholds = [{", ".join(parts)}]\n'
    (found,) = analyse(RunRecord.open(make_run(tmp_path, trials, plan_text=text))).claims
    assert [part.verdict for part in found.criteria] == ["holds", "holds"], found.sentence
