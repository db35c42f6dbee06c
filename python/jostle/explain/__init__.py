"""How a server behaves, and why: inferred from outside, from the times at which it answers given requests.

This package bears the name of the function that users call, so the package itself is callable:
`jostle.explain(url)` is `jostle.explain.run.explain`.
"""

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jostle.explain.results import Explanation

__all__: list[str] = []


class _Callable(types.ModuleType):
    """A package that can be called."""

    def __call__(self, server: str, **options: Any) -> "Explanation":
        """See `jostle.explain.run.explain`."""
        from jostle.explain.run import explain

        return explain(server, **options)


sys.modules[__name__].__class__ = _Callable
