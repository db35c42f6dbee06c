"""Charts: valid Vega-Lite, a sentence each, small data, all requests, no colour but the page's own."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import vendored
from jostle.analysis.results import Distribution, Phase
from jostle.analysis.run import analyse
from jostle.record import RunRecord
from jostle.report import charts
from jostle.report.charts.axes import TIME_LABEL, TimeAxis, decades
from jostle.report.charts.picture import thin
from jostle.report.export.vega import VEGA_LITE, standalone
from jostle.report.sections.timelines import MAX_TIMELINES
from jostle.report.views import View, contestants, views
from support.pages import AWAY
from support.pictures import pictures_of, validated
from support.results import RUNTIMES, Runtime, make_comparison, make_hit, make_plain, make_starvation
from support.synthetic import make_run


@pytest.mark.parametrize("make", [make_starvation, make_plain, make_hit])
def test_every_picture_is_valid_says_something_and_has_its_table(make: object) -> None:
    pictures = pictures_of(make())  # type: ignore[operator]
    assert len(pictures) >= 4
    for picture in pictures.values():
        spec = validated(picture)
        assert picture.title.endswith(".")
        assert re.search(r"\d", picture.title), picture.title
        assert picture.reading.endswith(".")
        assert picture.table.rows
        assert spec["description"] == picture.title


def test_specifications_are_of_the_version_that_altair_and_the_page_know() -> None:
    import altair

    assert altair.SCHEMA_VERSION.lstrip("v").startswith(f"{VEGA_LITE}.")
    assert {p.name: p.version for p in vendored.REPORT.packages}["vega-lite"].startswith(f"{VEGA_LITE}.")


def test_the_libraries_of_pages_are_those_whose_checksums_are_written_down() -> None:
    assert vendored.problems() == []


def test_a_figure_stays_whole_where_a_title_is_broken() -> None:
    picture = next(iter(pictures_of(make_plain()).values()))
    for shift in range(10):
        title = "x" * shift + " p99 beside slow requests: node ≥ 984 ms (alone: 1.91 ms), " * 4
        lines = standalone(replace(picture, title=title))["title"]["text"]
        assert len(lines) > 2
        assert not any(re.search(r"(≥|\s\d[\d.]*)$", line) for line in lines), lines


def unanswered(share: float, contestant: str = "node") -> View:
    """The open form, in which one contestant left that share of its requests without a response."""
    result = make_starvation(RUNTIMES[:2])
    summaries = [
        replace(c, outcomes={"ok": 1000, "unfinished": round(1000 * share / (1 - share))})
        if (c.contestant, c.workload) == (contestant, "open-with-slow")
        else c
        for c in result.summaries
    ]
    return views(replace(result, summaries=summaries))[1]


def test_requests_without_a_response_have_a_block_at_the_right_edge() -> None:
    """The 8 % that were answered are not the whole picture."""
    view, whole = unanswered(0.92), unanswered(0.0)
    axis = TimeAxis.of(view)
    assert axis.high < axis.block < axis.end
    assert TimeAxis.of(whole).block == TimeAxis.of(whole).end
    for draw in (lambda v: charts.strips([v]), lambda v: charts.density(v, 50)):
        picture = draw(view)
        validated(picture)
        blocks = [
            r for rows in picture.datasets.values() for r in rows if str(r.get("text", "")).startswith("92 %")
        ]
        assert blocks
        assert all(axis.block * 0.999 <= r["x"] < axis.end for r in blocks)
        assert not [
            r for rows in draw(whole).datasets.values() for r in rows if "92 %" in str(r.get("text", ""))
        ]


def rows_with(picture: charts.Picture, *fields: str) -> list[dict[str, Any]]:
    """All rows of a picture that have these fields."""
    return [r for rows in picture.datasets.values() for r in rows if {*fields} <= r.keys()]


def test_the_gauge_of_the_unanswered_is_as_wide_as_their_share() -> None:
    """0.02 % and 98 % do not look alike; beside them, everybody who was answered has an empty one."""
    for share in (0.01, 0.5, 0.98):
        gauges = [
            r for r in rows_with(charts.strips([unanswered(share)]), "end") if r["series"] == "with slow"
        ]
        filled = [math.log(r["x2"] / r["x"]) / math.log(r["end"] / r["x"]) for r in gauges]
        assert max(filled) == pytest.approx(share, abs=0.01)
        assert sorted(filled)[:-1] == [0] * (len(filled) - 1)


def test_a_bar_ends_at_the_p99_of_the_table_and_without_one_there_is_no_bar() -> None:
    view = views(make_starvation(RUNTIMES[:1]))[0]
    alone = view.panels[0].series[0]
    p99 = alone.response["p99"]
    bars = [r for r in rows_with(charts.strips([view]), "x", "x2", "middle") if r["series"] == "alone"]
    assert float(f"{p99.value:.4g}") in [r["x2"] for r in bars]
    none = replace(alone, response={**alone.response, "p99": replace(p99, value=None)})
    panel = replace(view.panels[0], series=[none, *view.panels[0].series[1:]])
    picture = charts.strips([replace(view, panels=[panel])])
    assert "Where there is no bar, the median or the p99 is not known; the table says why." in picture.reading
    medians = [r for r in rows_with(picture, "known") if r["series"] == "alone"]
    assert [r["known"] for r in medians] == [False]


def test_a_contestant_has_the_same_colour_in_every_picture() -> None:
    found: dict[str, set[str]] = {}
    for picture in pictures_of(make_starvation()).values():
        for scale in re.findall(
            r'"domain": (\["[^]]*\]), "range": (\["var[^]]*\])', json.dumps(picture.spec())
        ):
            for name, colour in zip(*map(json.loads, scale), strict=True):
                found.setdefault(name, set()).add(colour)
    assert {name: len(colours) for name, colours in found.items()} == {r.name: 1 for r in RUNTIMES}
    assert len(set.union(*found.values())) == len(RUNTIMES)


def test_colours_follow_the_order_of_the_plan_and_not_of_the_trials() -> None:
    result = make_starvation(RUNTIMES[:2])
    mixed = replace(result, contestants=dict(reversed(result.contestants.items())))
    assert contestants(mixed) == ("node", "go")


def test_every_axis_that_is_drawn_has_a_title() -> None:
    for key, picture in pictures_of(make_starvation(RUNTIMES[:2])).items():
        for axis in re.findall(r'"axis": (\{[^{}]*\})', json.dumps(picture.spec())):
            found = json.loads(axis)
            if "x" not in found:  # how axes are shared
                assert found.get("title") or found.get("labels") is False, (key, found)


def test_the_stall_is_that_of_the_most_harmed_beside_the_least_harmed() -> None:
    result = make_starvation()
    found = charts.find_stall(result, views(result))
    assert found is not None
    assert found.trials[0][0] == "python-asyncio"
    picture = charts.stall(found)
    validated(picture)
    assert picture.title.startswith("python-asyncio completes nothing from ")
    assert "in that part of its own trial, java-virtual-threads completes 7" in picture.title


def test_unlike_parts_of_a_stall_are_not_averaged() -> None:
    """A mean of 50, 50 and 6,040 responses a second is what no part of the picture shows."""
    result = make_starvation()
    found = charts.find_stall(result, views(result))
    assert found is not None
    name, other = found.trials[1]
    rates = list(other.timeline.throughput_per_s)
    inside = [
        n for n, t in enumerate(other.timeline.t_s) if found.begin_s < t < found.begin_s + found.length_s
    ]
    rates[inside[0]] = 50.0
    unlike = replace(other, timeline=replace(other.timeline, throughput_per_s=rates))
    title = charts.stall(replace(found, trials=(found.trials[0], (name, unlike)))).title
    assert re.search(rf"{name} completes 50\.0/s to [\d,]+/s\.", title)
    spared = make_starvation([RUNTIMES[1], RUNTIMES[2]])
    assert charts.find_stall(spared, views(spared)) is None


def test_the_ecdf_ends_at_the_share_that_was_answered() -> None:
    result = make_plain()
    shape = result.summaries[0].response_distribution
    kept = [(p, s) for p, s in zip(shape.quantile_p, shape.quantile_s, strict=True) if p <= 0.4]
    cut = replace(shape, quantile_p=[p for p, _ in kept], quantile_s=[s for _, s in kept])
    first = replace(result.summaries[0], response_distribution=cut, outcomes={"ok": 400, "unfinished": 600})
    (view, *_) = views(replace(result, summaries=[first, *result.summaries[1:]]))
    picture = charts.ecdf(view, 50)
    validated(picture)
    assert max(r["y"] for r in rows_with(picture, "contestant", "y") if r["contestant"] == "node") <= 0.4
    assert "ends below 100 %" in picture.reading


def test_the_area_of_a_hill_is_the_share_that_was_answered() -> None:
    """Beside a series that was answered in whole, one that was answered to 8 % is as small as that."""
    tall, low = (
        max(
            r["y"] - r["base"] for r in charts.density(v, 160).datasets["rows-2"] if r["key"] == "1-with slow"
        )
        for v in (unanswered(0.0), unanswered(0.92))
    )
    assert low < 0.2 * tall


def test_a_percentile_curve_ends_where_the_responses_end() -> None:
    result = make_plain()
    shape = result.summaries[0].response_distribution
    kept = [(p, s) for p, s in zip(shape.quantile_p, shape.quantile_s, strict=True) if p <= 0.4]
    cut = replace(shape, quantile_p=[p for p, _ in kept], quantile_s=[s for _, s in kept])
    first = replace(result.summaries[0], response_distribution=cut, outcomes={"ok": 400, "unfinished": 600})
    (view, *_) = views(replace(result, summaries=[first, *result.summaries[1:]]))
    picture = charts.percentiles(view, 50)
    validated(picture)
    (edge,) = (r["from"] for rows in picture.datasets.values() for r in rows if "from" in r)
    assert edge == pytest.approx(
        max(
            r["x"]
            for rows in picture.datasets.values()
            for r in rows
            if r.get("contestant") == "node" and "x" in r
        )
    )
    assert "Shaded: requests without a right response." in picture.reading


def test_a_server_that_answered_nobody_is_drawn_and_said_to_have_answered_nobody() -> None:
    result = make_starvation(RUNTIMES[:2])
    nobody = Distribution(0, None, None, None)
    summaries = [
        replace(c, response_distribution=nobody, response={}, outcomes={"unfinished": 500})
        if (c.contestant, c.workload) == ("node", "fast-with-slow")
        else c
        for c in result.summaries
    ]
    closed = views(replace(result, summaries=summaries))[0]
    picture = charts.strips([closed])
    validated(picture)
    assert "node answered no request (alone: " in picture.title
    assert any(r.get("text") == "100 %" for rows in picture.datasets.values() for r in rows)
    for draw in (charts.density, charts.percentiles):
        validated(draw(closed, 50))


def test_differences_are_drawn_with_the_words_and_intervals_of_their_table() -> None:
    slower, faster, none = (
        charts.shift(c)
        for c in (make_comparison(), make_comparison(slower_s=-0.002), make_comparison(rounds=1))
    )
    assert none is None
    assert slower is not None
    assert faster is not None
    validated(slower)
    validated(faster)
    compared = make_comparison()
    assert slower.title == f"fast-only: {compared.sentence}"
    drawn = {r["quantile"]: (r["low"], r["high"]) for r in slower.datasets["rows-1"]}
    ratios = {d.metric: (d.ratio.low, d.ratio.high) for d in compared.differences}
    assert list(drawn) == ["p50", "p99"]
    assert all(drawn[name] == pytest.approx(ratios[name]) for name in drawn)


def test_phases_are_shaded_and_clients_drawn_where_they_change() -> None:
    result = make_plain()
    steady = pictures_of(result)["timeline-workload-1-1"]
    changing = [
        replace(
            t,
            timeline=replace(
                t.timeline,
                clients=[1] * 10 + [5] * (len(t.timeline.t_s) - 11) + [None],
                phases=[Phase("ramp", 0, 2.5), Phase("hold", 2.5, 5)],
            ),
        )
        for t in result.trials
    ]
    phased = pictures_of(replace(result, trials=changing))["timeline-workload-1-1"]
    spec = validated(phased)
    titles = [panel["title"]["text"] for panel in spec["vconcat"]]
    assert titles[1] == "clients"
    assert "clients" not in [panel["title"]["text"] for panel in steady.spec()["vconcat"]]
    assert all(panel["layer"][0]["mark"]["type"] == "rect" for panel in spec["vconcat"])
    names = [r["text"] for rows in phased.datasets.values() for r in rows if "text" in r]
    assert sorted(names) == ["hold", "hold", "ramp"]


def test_the_colours_are_the_pages() -> None:
    for key, picture in pictures_of(make_starvation(RUNTIMES[:2])).items():
        spec = picture.spec()
        del spec["datasets"]
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b", json.dumps(spec)), key
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b", json.dumps(charts.CONFIG))


def test_titles_name_the_worst_and_the_best() -> None:
    closed, opened = views(make_starvation())
    top = charts.throughput(closed)
    assert top.title.startswith("Beside slow requests, python-asyncio completes 99.8 % fewer fast ones")
    assert charts.strips([opened]).title.startswith("p99 beside slow requests: node 2.26 s (alone: 393 µs), ")


def test_a_run_in_which_nobody_is_harmed_says_so() -> None:
    result = make_starvation([RUNTIMES[1], RUNTIMES[2]])
    top = charts.throughput(views(result)[0])
    assert top.title.startswith("Beside slow requests, nobody completes over")


def test_what_is_not_known_is_not_called_harmless() -> None:
    result = make_starvation(RUNTIMES[:2])
    one = result.starvation[0]
    unknown = replace(one, index=replace(one.index, value=None, low=None, high=None))
    result = replace(result, starvation=[unknown, *result.starvation[1:]])
    title = charts.throughput(views(result)[0]).title
    assert title == f"What slow requests cost is not known for {one.contestant}: the table says why."


def test_quantiles_that_cannot_be_told_are_not_told() -> None:
    result = make_hit()
    summary = result.summaries[0]
    none = {name: replace(e, value=None) for name, e in summary.response.items()}
    result = replace(result, summaries=[replace(summary, response=none)])
    assert charts.strips(views(result)[:1]).title == "p99: too few requests were answered."


def test_one_time_for_all_requests_is_drawn_as_a_tick_mark() -> None:
    """The analysis gives a density's axis without a density where the clock cannot tell the times apart."""
    same = Distribution(
        100, 1e-3, 1e-3, 1e-3, [1e-3, 1e-3], [], [0.0, 0.99], [1e-3, 1e-3], [1], [1e-3], [1e-3]
    )
    result = make_hit()
    result = replace(result, summaries=[replace(result.summaries[0], response_distribution=same)])
    for picture in pictures_of(result).values():
        validated(picture)
    rows = charts.density(views(result)[0], 40).datasets.values()
    assert any(row.get("y2") for rows_of_one in rows for row in rows_of_one)


def test_times_of_zero_have_a_place_on_a_logarithmic_axis() -> None:
    result = make_hit()
    shape = result.summaries[0].response_distribution
    zero = replace(shape, min_s=0.0, quantile_s=[0.0, *shape.quantile_s[1:]])
    result = replace(result, summaries=[replace(result.summaries[0], response_distribution=zero)])
    spec = validated(charts.percentiles(views(result)[0], 40))
    assert all(row["y"] > 0 for rows in spec["datasets"].values() for row in rows if "y" in row)


def test_the_more_series_the_fewer_points() -> None:
    crowd = [replace(RUNTIMES[1], name=f"server-{i}") for i in range(24)]
    many = pictures_of(make_starvation(crowd, rounds=1))
    few = pictures_of(make_starvation(RUNTIMES[:1], rounds=1))
    one, all_of_them = (len(json.dumps(found["density-form-1"].spec())) for found in (few, many))
    assert all_of_them < 24 * one
    assert len([key for key in many if key.startswith("timeline-")]) <= MAX_TIMELINES


def test_thinning_keeps_the_ends() -> None:
    assert thin(list(range(1000)), 10) == sorted(thin(list(range(1000)), 10))
    assert thin(list(range(1000)), 10)[0] == 0
    assert thin(list(range(1000)), 10)[-1] == 999
    assert thin([1, 2, 3], 10) == [1, 2, 3]


def test_decades() -> None:
    assert decades(8e-5, 3.0) == [1e-4, 1e-3, 1e-2, 1e-1, 1.0]
    assert decades(1.6e-3, 1.35e-2) == [2e-3, 5e-3, 1e-2]


def test_a_standstill_is_in_the_title_of_the_timeline() -> None:
    result = make_starvation([Runtime("blocked", "x", "", 2e-4, 2.31, 1.0)], rounds=1)
    picture = pictures_of(result)["timeline-form-1-1"]
    assert picture.title.startswith("blocked with slow: nothing completes for 2.")


def test_rounds_are_drawn_wherever_there_is_an_interval() -> None:
    """No formula shows that they fall into modes."""
    result = make_starvation(RUNTIMES[:2])
    (view, *_) = views(result)
    assert '"size": 22' not in json.dumps(validated(charts.throughput(view)))
    rounds = (900.0, 1000.0, 1100.0)
    panels = [
        replace(p, starvation=replace(p.starvation, alone=replace(p.starvation.alone, rounds=rounds)))
        for p in view.panels
        if p.starvation is not None
    ]
    drawn = json.dumps(validated(charts.throughput(replace(view, panels=panels))))
    assert '"size": 22' in drawn
    assert "1100.0" in drawn


def test_a_contestant_that_answered_nobody_keeps_its_panel_in_the_ecdf() -> None:
    result = make_plain()
    nobody = Distribution(0, None, None, None)
    none = replace(
        result.summaries[0], response_distribution=nobody, response={}, outcomes={"unfinished": 500}
    )
    (view, *_) = views(replace(result, summaries=[none, *result.summaries[1:]]))
    picture = charts.ecdf(view, 50)
    validated(picture)
    rows = rows_with(picture, "contestant", "x", "y")
    assert [row["x"] for row in rows if row["contestant"] == "node"] == [None]
    assert "unknown for node" in picture.title


def test_labels_of_times_are_round() -> None:
    """100 s is 1.66667 min."""
    assert "min" not in TIME_LABEL


def test_how_much_longer_a_route_takes_has_no_exponent() -> None:
    pair = charts.Pair("/", "/slow", clients=4, n=100, alone_s=0.001, median_s=4.5)
    picture = charts.interference([pair])
    assert picture is not None
    validated(picture)
    assert picture.title == "Beside 4 clients of /slow, / takes 4,500 times as long as by itself."
    assert rows_with(picture, "dark")[0]["text"] == "4,500 times"


def test_the_table_of_throughput_has_the_share_that_is_kept() -> None:
    (view, *_) = views(make_starvation(RUNTIMES[:1]))
    picture = charts.throughput(view)
    names = [column.name for column in picture.table.columns]
    row = dict(zip(names, map(str, picture.table.rows[0]), strict=True))
    starvation = view.panels[0].starvation
    assert starvation is not None
    assert starvation.index.value is not None
    drawn = [r["text"] for r in rows_with(picture, "text", "low") if "series" not in r]
    assert row["share kept"].startswith(drawn[0])
    assert row["as published"].endswith(" %")


def test_what_was_lost_is_marked_over_time(tmp_path: Path) -> None:
    result = analyse(RunRecord.open(make_run(tmp_path, [AWAY])))
    (view,) = views(result)
    picture = charts.timeline(result, view, view.panels[0], 100)
    assert picture is not None
    marked = [(row["t"], row["text"]) for rows in picture.datasets.values() for row in rows if "text" in row]
    validated(picture)
    assert marked == [(4.25, "✗ no response"), (6.0, "✓ responses again")]
