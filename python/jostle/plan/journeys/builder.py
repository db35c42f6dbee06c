"""Journeys written in Python: `jostle.journey("buy").post(…).capture(…)` builds the same table as in a plan.

No Python runs during the load: the engine compiles the table, as it does for a plan.
"""

from pathlib import Path
from typing import Any, Literal, Self

from jostle.errors import PlanError
from jostle.plan.requests.request import asking

__all__ = ["JourneyBuilder", "journey"]


def journey(name: str) -> "JourneyBuilder":
    """A journey without steps."""
    return JourneyBuilder(name)


class JourneyBuilder:
    """Builds the steps one after another, or names a file that has them.

    Methods that follow a request (`capture`, `think`, …) apply to that request.

    jostle.hit(url, journey=jostle.journey("buy").get("/").capture(id="json:/id").get("/items/{id}"))
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._journey: dict[str, Any] = {}
        self._steps: list[dict[str, Any]] = []

    def get(self, path: str, **keys: Any) -> Self:
        """Append a step. `keys`: as for a step in a plan, with _ for -: name, headers, json, expect, …"""
        return self._request({"get": path}, keys)

    def post(self, path: str, **keys: Any) -> Self:
        """As `get`."""
        return self._request({"post": path}, keys)

    def put(self, path: str, **keys: Any) -> Self:
        """As `get`."""
        return self._request({"put": path}, keys)

    def patch(self, path: str, **keys: Any) -> Self:
        """As `get`."""
        return self._request({"patch": path}, keys)

    def delete(self, path: str, **keys: Any) -> Self:
        """As `get`."""
        return self._request({"delete": path}, keys)

    def head(self, path: str, **keys: Any) -> Self:
        """As `get`."""
        return self._request({"head": path}, keys)

    def options(self, path: str, **keys: Any) -> Self:
        """As `get`."""
        return self._request({"options": path}, keys)

    def request(self, method: str, path: str, **keys: Any) -> Self:
        """As `get`, for another method, such as "PURGE"."""
        return self._request(asking(method, path), keys)

    def grpc(self, method: str, **keys: Any) -> Self:
        """As `get`, for a gRPC method, "package.Service/Method": proto, message, metadata, deadline, …"""
        return self._request({"grpc": method}, keys)

    def ws(self, path: str, **keys: Any) -> Self:
        """As `get`, for a message over the client's WebSocket: send, match, close, ping, headers, …"""
        return self._request({"ws": path}, keys)

    def script(self, file: Path | str) -> Self:
        """Instead of steps: a Luau script that makes the requests."""
        self._journey["script"] = str(Path(file).absolute())
        return self

    def hurl(self, file: Path | str) -> Self:
        """Instead of steps: a Hurl file whose entries are the steps."""
        self._journey["hurl"] = str(Path(file).absolute())
        return self

    def parallel(self, *steps: dict[str, Any]) -> Self:
        """Append steps that are sent together: parallel({"get": "/a.css"}, {"get": "/b.js"})."""
        self._steps.append({"parallel": [dict(step) for step in steps]})
        return self

    def connections(self, most: int) -> Self:
        """The most connections at a time, for `parallel`; a browser has 6 (HTTP/1.1)."""
        self._journey["connections"] = most
        return self

    def capture(self, **sources: str) -> Self:
        """Keep something of the response, by name: token="json:/token", id=r"regex:item/(\\d+)"."""
        return self._last({"capture": {**self._step().get("capture", {}), **sources}})

    def think(self, time: str) -> Self:
        """The pause after the response: "1s ± 20%"."""
        return self._last({"think": time})

    def when(self, condition: str) -> Self:
        """Skip the step unless this holds: "{id} exists"."""
        return self._last({"when": condition})

    def stop_when(self, condition: str) -> Self:
        """Complete the journey after its response if this holds: "{state} == done"."""
        return self._last({"stop-when": condition})

    def repeat(self, times: int) -> Self:
        """Send the request this many times."""
        return self._last({"repeat": times})

    def once_per_client(self) -> Self:
        """Each client sends it once, in its first journey."""
        return self._last({"once-per-client": True})

    def cookies(self, keep: bool = True) -> Self:
        """Each client keeps its cookies; with False it does not, even if the steps come from a Hurl file."""
        self._journey["cookies"] = keep
        return self

    def feed(
        self,
        file: Path | str,
        *,
        each: Literal["client", "iteration"] = "iteration",
        order: Literal["in-turn", "random", "once"] = "in-turn",
    ) -> Self:
        """Add rows of a CSV file, or of JSON lines if its name ends in .jsonl."""
        kind = "jsonl" if Path(file).suffix == ".jsonl" else "csv"
        feed = {kind: str(Path(file).absolute()), "each": each, "order": order}
        self._journey.setdefault("feed", []).append(feed)
        return self

    def table(self) -> dict[str, Any]:
        """The table `[journey.NAME]` of a plan."""
        steps = {"steps": [dict(step) for step in self._steps]} if self._steps else {}
        return {**self._journey, **steps}

    def _request(self, named: dict[str, str], keys: dict[str, Any]) -> Self:
        given = {key.replace("_", "-"): value for key, value in keys.items() if value is not None}
        self._steps.append({**named, **given})
        return self

    def _step(self) -> dict[str, Any]:
        if not self._steps:
            raise PlanError("there is no step yet", 'begin with a request: jostle.journey("buy").get("/")')
        return self._steps[-1]

    def _last(self, keys: dict[str, Any]) -> Self:
        self._step().update(keys)
        return self
