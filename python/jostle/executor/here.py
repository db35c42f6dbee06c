"""Load from threads of this process."""

import json
from collections.abc import Mapping
from typing import Any

from jostle._engine import Run
from jostle.executor.base import Running, StartRefused

__all__ = ["InThisProcess"]


class InThisProcess:
    """The engine in threads of this process; no Python runs while it works."""

    def start(self, spec: Mapping[str, Any]) -> Running:
        try:
            return Run(json.dumps(spec))
        except ValueError as error:
            raise StartRefused(str(error)) from None
