"""Histograms as jostle reads them, of those that the Python HdrHistogram recorded."""

import base64
from collections.abc import Iterable

from hdrh.histogram import HdrHistogram

from jostle.histogram import HIGHEST_US, Histogram, decode

__all__ = ["read", "recorded"]


def read(recorded: HdrHistogram) -> Histogram:
    return decode(base64.b64decode(recorded.encode()))


def recorded(values_us: Iterable[int]) -> Histogram:
    whole = HdrHistogram(1, HIGHEST_US, 3)
    for value in values_us:
        whole.record_value(value)
    return read(whole)
