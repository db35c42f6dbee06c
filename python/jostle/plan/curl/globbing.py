"""The URLs that one URL of curl stands for: `{a,b}` and `[1-9]`."""

import re
from collections.abc import Iterator
from ipaddress import IPv6Address
from itertools import product

from jostle.errors import PlanError
from jostle.plan.requests.url_list import MAX_URLS

__all__ = ["globbed"]

_PART = re.compile(r"\\([{}\[\]])|\{([^{}]*)\}|\[([^\[\]]*)\]|([{}\[\]])|([^{}\[\]\\]+|\\)")
_NUMBERS = re.compile(r"(\d{1,18})-(\d{1,18})(?::(\d{1,18}))?")
_LETTERS = re.compile(r"([A-Za-z])-([A-Za-z])(?::(\d{1,2}))?")


def globbed(url: str) -> list[str]:
    """All URLs that `url` stands for, the last range counting fastest. Raises `PlanError`."""
    parts = [_part(url, found) for found in _PART.finditer(url)]
    count = 1
    for part in parts:
        count *= len(part)
    if count > MAX_URLS:
        raise PlanError(f"{url!r} stands for {count:,} URLs", f"at most {MAX_URLS:,}; take a shorter range")
    return ["".join(chosen) for chosen in product(*parts)]


def _part(url: str, found: re.Match[str]) -> list[str]:
    escaped, listed, ranged, alone, plain = found.groups()
    if alone is not None:
        raise PlanError(
            f"{url!r}: {alone} without its other half", "--globoff takes braces and brackets as they are"
        )
    if listed is not None:
        return listed.split(",")
    if ranged is not None:
        return [found[0]] if _is_ipv6(ranged) else list(_range(url, ranged))
    return [escaped or plain]


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def _range(url: str, text: str) -> Iterator[str]:
    if found := _NUMBERS.fullmatch(text):
        first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
        width = len(found[1]) if found[1].startswith("0") else 0
        if first <= last and step > 0 and (last - first) // step < MAX_URLS:
            return (f"{number:0{width}d}" for number in range(first, last + 1, step))
    elif found := _LETTERS.fullmatch(text):
        first, last, step = ord(found[1]), ord(found[2]), int(found[3] or 1)
        if first <= last and step > 0:
            return (chr(code) for code in range(first, last + 1, step))
    raise PlanError(
        f"{url!r}: [{text}] is no range", "write [1-9] or [a-z]; --globoff takes brackets as they are"
    )
