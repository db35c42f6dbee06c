"""The pictures of a report: pure functions that create a `Picture` from the results of the analysis."""

from jostle.report.charts.boxes import Box, boxes
from jostle.report.charts.densities import densities
from jostle.report.charts.density import density
from jostle.report.charts.dots import ratios, threads
from jostle.report.charts.ecdf import ecdf
from jostle.report.charts.event_times import event_times
from jostle.report.charts.flow import flow
from jostle.report.charts.head_of_line import head_of_line
from jostle.report.charts.interference import Pair, interference
from jostle.report.charts.pauses import pauses
from jostle.report.charts.percentiles import percentiles
from jostle.report.charts.phased import phased
from jostle.report.charts.phases import phases
from jostle.report.charts.picture import CONFIG, Picture
from jostle.report.charts.ranks import ranks
from jostle.report.charts.shift import shift
from jostle.report.charts.staircase import SentRequest, staircase
from jostle.report.charts.stall import find_stall, stall
from jostle.report.charts.strips import strips
from jostle.report.charts.throughput import completed, throughput
from jostle.report.charts.timeline import timeline
from jostle.report.charts.titles import extremes
from jostle.report.charts.waterfall import waterfall

__all__ = [
    "CONFIG",
    "Box",
    "Pair",
    "Picture",
    "SentRequest",
    "boxes",
    "completed",
    "densities",
    "density",
    "ecdf",
    "event_times",
    "extremes",
    "find_stall",
    "flow",
    "head_of_line",
    "interference",
    "pauses",
    "percentiles",
    "phased",
    "phases",
    "points_per_curve",
    "ranks",
    "ratios",
    "shift",
    "staircase",
    "stall",
    "strips",
    "threads",
    "throughput",
    "timeline",
    "waterfall",
]

MAX_CURVE_POINTS = 7_500
"""Limit for all curves of a page together, which keeps it under 3 MB however many contestants there are."""


def points_per_curve(series: int) -> int:
    """How many points each curve may have if there are `series` of them."""
    return max(30, min(160, MAX_CURVE_POINTS // (3 * max(series, 1))))
