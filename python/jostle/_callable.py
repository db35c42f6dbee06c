"""Packages that bear the name of a function that users call: `jostle.explain(url)` calls the package."""

import importlib
import sys
import types
from typing import Any

__all__ = ["callable_as"]


def callable_as(package: str, home: str, function: str) -> None:
    """Make `package`, which is being imported, callable as the `function` of the module `home`."""

    class Callable(types.ModuleType):
        def __call__(self, *given: Any, **options: Any) -> Any:
            return getattr(importlib.import_module(home), function)(*given, **options)

    sys.modules[package].__class__ = Callable
