"""The functions of `scipy.special` that the statistics use, imported on their first call.

Importing it takes a fifth of a second. What a single trial needs works without it: see
`jostle.analysis.stats.binomial`.
"""

from collections.abc import Callable
from typing import Any

__all__ = [
    "chdtri",
    "digamma",
    "fdtr",
    "gammaincc",
    "gammaln",
    "nctdtr",
    "nctdtrinc",
    "ndtr",
    "ndtri",
    "polygamma",
    "stdtr",
    "stdtrit",
]


def _late(name: str) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        from scipy import special

        return getattr(special, name)(*arguments)

    return call


chdtri, gammaln = _late("chdtri"), _late("gammaln")
digamma, polygamma = _late("digamma"), _late("polygamma")
fdtr, gammaincc = _late("fdtr"), _late("gammaincc")
nctdtr, nctdtrinc = _late("nctdtr"), _late("nctdtrinc")
ndtr, ndtri = _late("ndtr"), _late("ndtri")
stdtr, stdtrit = _late("stdtr"), _late("stdtrit")
