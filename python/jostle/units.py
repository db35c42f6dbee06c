"""Durations, rates, sizes, shares and counts: read as people write them, and shown with three digits.

duration("1m30s") == 90.0          format_duration(0.00451) == "4.51 ms"
rate("60/min") == 1.0              format_rate(12345.6) == "12,346/s"
size("1KiB") == 1024               format_bytes(165e6) == "165 MB"
share("10%") == 0.1                format_share(0.1) == "10 %"
count("10k") == 10000              format_count(10000) == "10,000"
base_unit("requests/5 s") == ("/s", 0.2)
"""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from jostle.errors import BadValue

__all__ = [
    "MINUS",
    "NOTHING",
    "Scale",
    "base_unit",
    "count",
    "duration",
    "exact_duration",
    "exact_number",
    "format_bytes",
    "format_count",
    "format_duration",
    "format_number",
    "format_rate",
    "format_rough_span",
    "format_share",
    "format_span",
    "format_value",
    "rate",
    "scale",
    "share",
    "size",
]


_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:_\d+)*(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([a-zA-Zµμ%]*)\s*")

_PER = re.compile(rf"[a-zA-Z ]*/\s*({_NUMBER})?\s*([a-zµμ]+)")
_PLAIN = {"": 1.0, "share": 1.0, "ratio": 1.0, "times": 1.0, "%": 0.01}

_NS = {
    "ns": 1.0,
    "us": 1e3,
    "µs": 1e3,  # micro sign
    "μs": 1e3,  # Greek mu
    "ms": 1e6,
    "s": 1e9,
    "m": 60e9,
    "min": 60e9,
    "h": 3600e9,
}
_PER_S = {"s": 1.0, "sec": 1.0, "m": 1 / 60, "min": 1 / 60, "h": 1 / 3600, "ms": 1e3}
_BYTES = {
    "B": 1,
    "bytes": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
_THOUSANDS = {"": 1.0, "k": 1e3, "M": 1e6}

MINUS, NOTHING = "\N{MINUS SIGN}", "\N{EN DASH}"

MAX_S = 366 * 24 * 3600.0
"""The longest duration, a leap year. Above 2^53 ns (104 days) it is no longer exact to the nanosecond."""


def duration(text: str, *, bare: str = "") -> float:
    """Read "900ms", "1m30s" or "0.5 s" as seconds, to the nanosecond. `bare`: the unit of a bare number."""
    example = 'write for example "500ms", "5s", "1m30s" or "20m"'
    total_ns, position = 0.0, 0
    while position < len(text) or position == 0:
        found = _QUANTITY.match(text, position)
        if found is None:
            raise BadValue(f"{text!r} is not a duration", example)
        unit = found[2] or bare
        if unit not in _NS and not (_number(found[1]) == 0 and not found[2]):
            says = "has no unit of time" if not found[2] else f"has no unit of time: {unit!r}"
            raise BadValue(f"{text!r} {says}", f"{example}; units: ns, us, ms, s, m, h")
        total_ns += _number(found[1]) * _NS.get(unit, 0.0)
        position = found.end()
    if not total_ns <= MAX_S * 1e9:
        raise BadValue(f"{text!r} is longer than a year", example)
    return round(total_ns) / 1e9


def rate(text: str, *, bare: str = "") -> float:
    """Read "1000/s", "60/min" or "10k/s" as a rate per second. `bare`: the time if none is given ("s")."""
    example = 'write for example "1000/s", "10k/s" or "60/min"'
    amount, slash, per = text.partition("/")
    found = _QUANTITY.fullmatch(amount)
    if found is None or found[2] not in _THOUSANDS:
        raise BadValue(f"{text!r} is not a rate", example)
    per = per.strip() if slash else bare
    if per not in _PER_S:
        raise BadValue(f"{text!r} does not say per which time", example)
    value = _number(found[1]) * _THOUSANDS[found[2]] * _PER_S[per]
    if not math.isfinite(value):
        raise BadValue(f"{text!r} is too much", example)
    return value


def size(text: str) -> int:
    """Read "12B", "1kB" (1000) or "1KiB" (1024) as bytes; a bare number is bytes."""
    found = _QUANTITY.fullmatch(text)
    if found is None or (found[2] or "B") not in _BYTES:
        raise BadValue(f"{text!r} is not a size", 'write for example "512B", "1kB" (1000) or "1KiB" (1024)')
    value = _number(found[1]) * _BYTES[found[2] or "B"]
    if not math.isfinite(value):
        raise BadValue(f"{text!r} is too much", 'write for example "1GB"')
    return round(value)


def share(text: str) -> float:
    """Read "10%" or "0.1" as a share of one."""
    example = 'write for example "10%" or "0.1"'
    found = _QUANTITY.fullmatch(text)
    if found is None or found[2] not in ("", "%"):
        raise BadValue(f"{text!r} is not a share", example)
    value = _number(found[1]) / (100 if found[2] else 1)
    if value > 1:
        raise BadValue(f"{text!r} is more than the whole", example)
    return value


def count(text: str) -> int:
    """Read "10_000", "10,000" or "10k" as a whole number."""
    example = 'write a whole number, for example 50, "10_000" or "10k"'
    found = _QUANTITY.fullmatch(text)
    if found is None or found[2] not in _THOUSANDS:
        raise BadValue(f"{text!r} is not a count", example)
    if found[1].replace("_", "").isdigit() and not found[2]:
        return int(found[1])
    value = _number(found[1]) * _THOUSANDS[found[2]]
    if not value.is_integer():
        raise BadValue(f"{text!r} is not a whole number", example)
    return int(value)


def base_unit(text: str) -> tuple[str, float]:
    """The base unit of a unit as people write it, and how many base units it is.

    Base units are "s", "/s", "bytes", and "" for plain numbers. "ms" is ("s", 0.001), "MB" is ("bytes", 1e6),
    "hits/60 s" is ("/s", 1/60), "%" is ("", 0.01).
    """
    unit = text.strip()
    if unit in _NS:
        return "s", _NS[unit] / 1e9
    if unit in _BYTES:
        return "bytes", float(_BYTES[unit])
    if unit in _PLAIN:
        return "", _PLAIN[unit]
    found = _PER.fullmatch(unit)
    if found and (per := _number(found[1] or "1") * _NS.get(found[2], 0.0)):
        return "/s", 1e9 / per
    raise BadValue(f"{text!r} is not a unit", 'write for example "ms", "requests/5 s", "MB", "share" or "%"')


def exact_duration(seconds: float) -> str:
    """The shortest text that `duration` reads back as exactly these seconds (whole nanoseconds)."""
    ns = round(seconds * 1e9)
    for unit in ("h", "m", "s", "ms", "us"):
        if ns % int(_NS[unit]) == 0:
            return f"{ns // int(_NS[unit])}{unit}" if ns else "0s"
    return f"{ns}ns"


def exact_number(value: float) -> str:
    """A number as text that reads back the same, without an exponent if possible."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


class Scale(NamedTuple):
    """One unit for a value and for the ends of its interval: "ms" in 4.51 ms [4.20, 4.80]."""

    size: float  # of one such unit, in base units
    suffix: str  # what follows the number: " ms", "/s", " %"
    digits: Callable[[float], str]  # writes a number ≥ 0

    def number(self, value: float) -> str:
        """`value`, given in the base unit, as a number of this unit; a dash for NaN and infinity."""
        if not math.isfinite(value):
            return NOTHING
        text = self.digits(abs(value) / self.size)
        return MINUS + text if value < 0 and text.strip("0.") else text

    def write(self, value: float) -> str:
        """The number with its unit."""
        text = self.number(value)
        return text if text == NOTHING else text + self.suffix


def scale(value: float, unit: str, *, fine: bool = False) -> Scale:
    """The scale that fits `value` in a base unit: s, /s, bytes, share, ratio, count; others are unscaled.

    Times are recorded to a microsecond, so none is shown finer; `fine` is for times that are computed, such
    as the CPU time of a request.
    """
    value = abs(value) if math.isfinite(value) else 0.0
    match unit:
        case "s":
            return _time_scale(value, fine=fine)
        case "/s" | "requests/s":
            return Scale(1.0, "/s", _rate_digits)
        case "bytes":
            steps = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
            name, size = next((s for s in steps if _three_digits(value) >= s[1]), ("B", 1.0))
            return Scale(size, f" {name}", _whole if name == "B" else _three)
        case "share":
            return Scale(0.01, " %", _percent_digits)
        case "%":
            return Scale(1.0, " %", _percent_digits)
        case "count":
            return Scale(1.0, "", _whole)
        case "" | "ratio":
            return Scale(1.0, "", _ratio_digits)
        case _:
            return Scale(1.0, f" {unit}", _plain_digits)


def _time_scale(seconds: float, *, fine: bool) -> Scale:
    steps = (("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0))
    if seconds == 0:
        return Scale(1.0, " s", _three)
    name, size = steps[0]
    for unit, length in steps:
        # minutes only from 100 s on: "72.0 s" is easier to read than "1.20 min"
        begins = 100.0 if unit == "min" else length
        if _three_digits(seconds) >= begins:
            name, size = unit, length
    whole = name == "µs" and not fine
    return Scale(size, f" {name}", _three_whole if whole else _three)


def format_duration(seconds: float, *, fine: bool = False) -> str:
    """Three digits and a unit that fits: "812 µs", "4.51 ms", "1.20 s", "12.5 min"; a dash for NaN.

    Microseconds have no fraction, as the record has none, unless `fine`.
    """
    return scale(seconds, "s", fine=fine).write(seconds)


def format_span(seconds: float) -> str:
    """How long a run took, in whole units: "45 s", "2 min 52 s", "1 h 5 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    large, small, names = (whole // 60, whole % 60, ("min", "s"))
    if whole >= 3600:
        large, small, names = (whole // 3600, whole % 3600 // 60, ("h", "min"))
    return f"{large} {names[0]}" + (f" {small} {names[1]}" if small else "")


def format_rough_span(seconds: float) -> str:
    """A rough length of time: "40 s", "12 min"."""
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def format_rate(per_s: float) -> str:
    """A rate as "12,346/s", "57.2/s" or "0.05/s"; a dash for NaN."""
    return scale(per_s, "/s").write(per_s)


def format_bytes(value: float) -> str:
    """Three digits in powers of 1000: "512 B", "1.02 kB", "165 MB"; a dash for NaN."""
    return scale(value, "bytes").write(value)


def format_share(share: float) -> str:
    """A share as a percentage: "0.58 %", "26 %", "92.2 %".

    It is never rounded to nothing or to the whole: "< 0.01 %", "> 99.9 %".
    """
    if 0 < abs(share) < 0.0001:
        return "< 0.01 %" if share > 0 else f"> {MINUS}0.01 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return scale(share, "share").write(share)


def format_value(value: float, unit: str, *, fine: bool = False) -> str:
    """A value in a base unit, scaled to read well. Units and `fine`: see `scale`."""
    if unit in ("share", "%"):
        return format_share(value if unit == "share" else value / 100)
    return scale(float(value), unit, fine=fine).write(float(value))


def format_number(value: float) -> str:
    """A plain number with three digits and never an exponent: "0.05", "1.5", "1,060"."""
    return Scale(1.0, "", _plain_digits).number(value)


def format_count(value: float) -> str:
    """A whole number with separators: "10,000"."""
    return f"{value:,.0f}"


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("_", ""))


def _three_digits(value: float) -> float:
    return float(f"{value:.3g}")


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _three_whole(value: float) -> str:
    return _whole(_three_digits(value) if value >= 1000 else value)


def _three(value: float) -> str:
    """Three significant digits, with trailing zeros kept (4.5 → "4.50") except below 1 (0.05)."""
    value = _three_digits(value)
    if value < 1:
        return f"{Decimal(str(value)):f}" if value else "0"
    return f"{value:,.{max(0, 3 - len(str(int(value))))}f}"


def _rate_digits(value: float) -> str:
    return _whole(value) if value >= 100 else _three(value)


def _percent_digits(value: float) -> str:
    """Three digits, or two below 1 %; without trailing zeros."""
    if value >= 1000:
        return _whole(value)
    return _without_zeros(f"{float(f'{value:.2g}' if value < 1 else f'{value:.3g}'):.6f}")


def _ratio_digits(value: float) -> str:
    return f"{value:.2f}" if value < 10 else _plain_digits(value)


def _plain_digits(value: float) -> str:
    """A whole number from 1000 on, below that three digits."""
    return _whole(value) if value >= 1000 else _without_zeros(f"{_three_digits(value):.6f}")


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") or "0"
