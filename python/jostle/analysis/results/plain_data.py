"""Results as plain data."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jostle.analysis.results.version import FORMAT

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["plain_data"]


def plain_data(kind: str, result: "DataclassInstance") -> dict[str, Any]:
    """The result for `json.dumps`; `kind` says what it is. Numbers that are not finite become None."""
    fields: dict[str, Any] = _finite(asdict(result))
    return {"kind": kind, "format": FORMAT, **fields}


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return value
