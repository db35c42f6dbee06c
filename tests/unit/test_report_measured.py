"""What was measured, in a line for each workload."""

from dataclasses import replace

from jostle.report.document import Statements
from jostle.report.sections.workloads import section
from support.results import RUNTIMES, make_hit, make_starvation

PLAN = """
[workload.fast-only]
request = [{ get = "/fast/44" }]
load = { clients = 1, for = "590ms", keep-alive = false }

[workload.fast-with-slow]
request = [{ get = "/fast/44" }]
load = { clients = 1, for = "590ms", keep-alive = false }
background = { get = "/slow/39", clients = 1, requests = 1 }

[workload.shop]
journeys = { visit = 1 }
load = { rate = "500/s", for = "1s", max-connections = 900 }
"""


def told(workloads: dict[str, str], plan: str = PLAN) -> list[str]:
    result = make_starvation(RUNTIMES[:1], rounds=1)
    (summary, *_) = result.summaries
    summaries = [replace(summary, workload=name, title=title) for name, title in workloads.items()]
    blocks = section(replace(result, summaries=summaries, plan_text=plan)).blocks
    return [finding.text for block in blocks if isinstance(block, Statements) for finding in block.items]


def test_each_workload_says_what_was_sent_how_and_beside_what() -> None:
    assert told({"fast-only": "Fast requests only", "fast-with-slow": "", "shop": "shop"}) == [
        "fast-only (Fast requests only): GET /fast/44, 1 client for 590ms, "
        "a new connection for each request.",
        "fast-with-slow: GET /fast/44, 1 client for 590ms, a new connection for each request; "
        "beside it GET /slow/39, 1 client, 1 request.",
        "shop: journey visit, 500/s (poisson arrivals) for 1s, at most 900 connections.",
    ]


def test_a_plan_of_another_version_and_a_single_workload_say_nothing() -> None:
    assert told({"fast-only": "", "gone": ""}) == []
    assert told({"fast-only": "", "shop": ""}, "not = [toml") == []
    assert section(make_hit()).blocks == []
