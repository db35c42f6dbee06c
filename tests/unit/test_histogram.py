"""Histograms are read as the Python HdrHistogram reads them, and none harms its reader."""

import base64
import struct
import zlib

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from jostle.errors import NotARun
from jostle.histogram import HEADER, HIGHEST_US, SLOTS, Histogram, decode
from jostle.record.hlog import HistogramEntry
from support.histograms import read, recorded

COUNTS = st.dictionaries(st.integers(1, HIGHEST_US), st.integers(1, 2**40), max_size=60)


@given(counts=COUNTS, highest=st.sampled_from([HIGHEST_US, 2**40]))
def test_what_another_library_wrote_is_read(counts: dict[int, int], highest: int) -> None:
    theirs = HdrHistogram(1, highest, 3)
    for value, count in counts.items():
        theirs.record_value(value, count)
    ours = read(theirs)
    assert ours.total == sum(counts.values())
    assert ours.counts.tolist() == list(theirs.counts)[: len(ours.counts)]
    assert not any(list(theirs.counts)[len(ours.counts) :])


def test_a_sum_has_the_counts_of_both() -> None:
    whole = Histogram()
    for values in ([5, 5, 900], [900_000], []):
        whole.add(recorded(values))
    assert len(whole.counts) == SLOTS
    assert whole.counts.tolist() == [*recorded([5, 5, 900, 900_000]).counts, *[0] * SLOTS][:SLOTS]


def encoded(slots: bytes, *, length: int | None = None, digits: int = 3, lowest: int = 1) -> bytes:
    header = HEADER.pack(
        0x1C849313, len(slots) if length is None else length, 0, digits, lowest, HIGHEST_US, 1.0
    )
    packed = zlib.compress(header + slots)
    return struct.pack(">II", 0x1C849314, len(packed)) + packed


@pytest.mark.parametrize(
    ("v2", "why"),
    [
        (b"", "no histogram of the V2 encoding"),
        (b"\0" * 20, "no histogram of the V2 encoding"),
        (encoded(b"\2")[:20], "too short"),
        (encoded(b"\2", digits=2), "from 1 to 3600000000 with 2 digits"),
        (encoded(b"\2", lowest=1000), "from 1000 to 3600000000 with 3 digits"),
        (encoded(b"\2", length=2), "too short"),
        (encoded(b"\2\x80"), "last number is incomplete"),
        (encoded(b"\xff" * 9 + b"\1"), "one of its numbers is too large"),
        (encoded(b"\xfe" * 7 + b"\1"), "one of its numbers is too large"),
        (encoded(b"\xff\xff\xff\x0f"), "one of its numbers is too large"),
        (encoded(b"\2" * 40_000), "it has 40,000 slots"),
        (encoded(b"\2" * 30_000), "values beyond 3600000000 µs"),
        (encoded(bytes(8 << 20)), "inflates to more than"),
    ],
)
def test_what_is_none_is_refused(v2: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decode(v2)
    with pytest.raises(NotARun, match=f"the response histogram of the interval at 2 s is damaged: .*{why}"):
        HistogramEntry((0, 0, 0), "response", 2.0, 1.0, base64.b64encode(v2).decode()).decode()


def test_values_beyond_those_of_the_engine_are_refused() -> None:
    wide = HdrHistogram(1, 2**40, 3)
    wide.record_value(HIGHEST_US)
    assert read(wide).total == 1
    wide.record_value(2 * HIGHEST_US)
    with pytest.raises(ValueError, match="values beyond 3600000000 µs"):
        read(wide)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(slots: bytes) -> None:
    try:
        found = decode(encoded(slots))
    except ValueError:
        return
    assert found.total >= 0
    assert len(found.counts) <= SLOTS
