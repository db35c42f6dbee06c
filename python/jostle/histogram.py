"""Histograms of times in microseconds: the slots of a HdrHistogram of three digits, 1 µs to 1 h.

They come as V2 encodings, perhaps from a stranger: a header, then a number for each slot in LEB128 with
zigzag, where a negative one stands for as many empty slots.
Source: `encodeIntoCompressedByteBuffer` and `ZigZagEncoding` of the Java HdrHistogram.
"""

import struct
import zlib

import numpy as np
import numpy.typing as npt

__all__ = ["HIGHEST_US", "SLOTS", "Histogram", "decode"]

LOWEST_US, HIGHEST_US, DIGITS = 1, 3_600_000_000, 3

SLOTS = 23 << 10
"""Slots of a histogram of these limits."""

MAX_INFLATED_BYTES = 4 << 20
"""Most bytes that an encoding may inflate to; a full histogram of these limits has less than 300 kB."""

MAX_HIGHEST_US = 2**40

MAX_SLOTS = 31 << 10
"""Slots of a histogram up to `MAX_HIGHEST_US`."""

MAX_COUNT = 2**48

COMPRESSED = struct.Struct(">II")
"""Cookie and length of what follows, deflated."""

HEADER = struct.Struct(">IIIIQQd")
"""Cookie, length, normalizing offset, digits, lowest and highest value, ratio."""

COMPRESSED_COOKIE, COOKIE = 0x1C849314, 0x1C849313

CONTINUES = 0x80
"""The bit of a byte in LEB128 that is not the last of its number."""

MAX_NUMBER_BYTES = 8

Counts = npt.NDArray[np.int64]


class Histogram:
    """How many times lie in each slot; slots behind the last one are empty."""

    __slots__ = ("counts",)

    def __init__(self, counts: Counts | None = None) -> None:
        self.counts = np.zeros(SLOTS, dtype=np.int64) if counts is None else counts

    @property
    def total(self) -> int:
        """The number of times."""
        return int(self.counts.sum())

    def add(self, other: "Histogram") -> None:
        """Add all of another one, which has no slots that this one has not."""
        self.counts[: len(other.counts)] += other.counts


def decode(v2: bytes) -> Histogram:
    """The histogram of a V2 encoding, deflated. Raises ValueError, zlib.error."""
    header, slots = _inflated(v2)
    cookie, length, _offset, digits, lowest, highest, _ratio = HEADER.unpack(header)
    if (cookie, lowest, digits) != (COOKIE, LOWEST_US, DIGITS) or not 0 < highest <= MAX_HIGHEST_US:
        raise ValueError(f"it holds values from {lowest} to {highest} with {digits} digits")
    if len(slots) < length:
        raise ValueError("it is too short")
    counts = _counts(_numbers(np.frombuffer(slots, dtype=np.uint8, count=length)))
    if counts[SLOTS:].any():
        raise ValueError(f"it has values beyond {HIGHEST_US} µs")
    return Histogram(counts[:SLOTS])


def _inflated(v2: bytes) -> tuple[bytes, bytes]:
    """The header and the slots, of which there are no more bytes than allowed."""
    if len(v2) < COMPRESSED.size or COMPRESSED.unpack_from(v2)[0] != COMPRESSED_COOKIE:
        raise ValueError("it is no histogram of the V2 encoding")
    inflating = zlib.decompressobj()
    inflated = inflating.decompress(v2[COMPRESSED.size :], MAX_INFLATED_BYTES)
    if inflating.unconsumed_tail:
        raise ValueError(f"it inflates to more than {MAX_INFLATED_BYTES} bytes")
    if len(inflated) < HEADER.size:
        raise ValueError("it is too short")
    return inflated[: HEADER.size], inflated[HEADER.size :]


def _numbers(data: npt.NDArray[np.uint8]) -> Counts:
    """The numbers of the slots. Raises ValueError."""
    ends = np.flatnonzero(data < CONTINUES)
    if len(data) and (not len(ends) or ends[-1] != len(data) - 1):
        raise ValueError("its last number is incomplete")
    starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
    lengths = ends - starts + 1
    if len(ends) and lengths.max() > MAX_NUMBER_BYTES:
        raise ValueError("one of its numbers is too large")
    place = np.arange(len(data)) - np.repeat(starts, lengths)
    parts = (data & (CONTINUES - 1)).astype(np.int64) << (7 * place)
    zigzag = np.add.reduceat(parts, starts) if len(ends) else parts
    return np.asarray((zigzag >> 1) ^ -(zigzag & 1))


def _counts(numbers: Counts) -> Counts:
    """The count of each slot. Raises ValueError."""
    if len(numbers) and (numbers.max() > MAX_COUNT or numbers.min() < -MAX_SLOTS):
        raise ValueError("one of its numbers is too large")
    widths = np.where(numbers < 0, -numbers, 1)
    ends = np.cumsum(widths)
    length = int(ends[-1]) if len(ends) else 0
    if length > MAX_SLOTS:
        raise ValueError(f"it has {length:,} slots")
    counts = np.zeros(length, dtype=np.int64)
    filled = numbers > 0
    counts[(ends - widths)[filled]] = numbers[filled]
    return counts
