"""jostle: the laboratory that shows how a server behaves in a crowd.

import jostle

run = jostle.run("my-plan.toml")      # or jostle.hit("http://127.0.0.1:8080/", clients=50, seconds=10)
run.result.verdict                    # "valid", "suspect" or "invalid"
run.figures                           # every figure with its interval, as a polars frame
run.requests                          # a row per request, if the plan asks for rows
jostle.compare(run, other).chart()    # by how much the quantiles differ, as a chart
jostle.explain("http://127.0.0.1:8080/", slow=["/report"]).paragraph   # how the server behaves, and why
jostle.capacity("http://127.0.0.1:8080/", "p99 < 100 ms").sentences    # which rate it can carry
"""

from typing import TYPE_CHECKING, Any

from jostle._version import __version__

__all__ = [
    "Comparison",
    "JostleError",
    "Plan",
    "Run",
    "__version__",
    "capacity",
    "compare",
    "explain",
    "hit",
    "journey",
    "load_experiment",
    "load_plan",
    "open_run",
    "run",
    "steer",
    "stop",
]

if TYPE_CHECKING:
    from jostle.api import (
        Comparison,
        Run,
        compare,
        hit,
        load_experiment,
        load_plan,
        open_run,
        run,
        steer,
        stop,
    )
    from jostle.capacity.find import capacity
    from jostle.errors import JostleError
    from jostle.explain.run import explain
    from jostle.plan import Plan
    from jostle.plan.journeys.builder import journey

_HOME = {"JostleError": "jostle.errors", "Plan": "jostle.plan", "journey": "jostle.plan.journeys.builder"}
"""The modules of names that do not come from `jostle.api`."""

_PACKAGES = ("capacity", "explain")
"""Functions that are packages, too: see `jostle._callable`."""


def __getattr__(name: str) -> Any:
    """Import on first use, so that the command line does not load what it does not need."""
    import importlib

    if name not in __all__:
        raise AttributeError(f"module 'jostle' has no attribute {name!r}")
    home = f"jostle.{name}" if name in _PACKAGES else _HOME.get(name, "jostle.api")
    try:
        module = importlib.import_module(home)
    except ImportError as error:
        from jostle._platform import engine_missing

        if missing := engine_missing(error):
            raise missing from error
        raise
    return module if name in _PACKAGES else getattr(module, name)
