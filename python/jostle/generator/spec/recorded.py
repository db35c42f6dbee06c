"""The specification as it is recorded: without secrets, and without what is long."""

from collections.abc import Mapping
from typing import Any

from jostle.redaction.data import redact
from jostle.redaction.names import HIDDEN
from jostle.redaction.texts import redact_text

__all__ = ["without_secrets"]


def without_secrets(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification for the record: possible secrets are hidden, as in the recorded plan.

    Rows of feeds and columns of files are left out: they are long, and may contain passwords.
    """
    spec = redact(spec | {"workloads": [_without_rows(workload) for workload in spec["workloads"]]})
    for request in (request for workload in spec["workloads"] for request in workload["requests"]):
        if request["grpc"]:
            request["grpc"]["schema_base64"] = None  # as long as its files
    return spec


def _without_rows(workload: Mapping[str, Any]) -> dict[str, Any]:
    requests = [request | {"params": _without_column(request["params"])} for request in workload["requests"]]
    if "journeys" not in workload:
        return {**workload, "requests": requests}
    journeys = [
        journey
        | {
            "feeds": [feed | {"rows": None} for feed in journey["feeds"]],
            "script": _without_keys(journey["script"]),
        }
        for journey in workload["journeys"]
    ]
    return {**workload, "requests": requests, "journeys": journeys}


def _without_column(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {"in-turn": []} if isinstance(param, dict) and "in-turn" in param else param
        for name, param in params.items()
    }


def _without_keys(script: dict[str, Any] | None) -> dict[str, Any] | None:
    """The script, whose source is hidden as a whole if anything in it is."""
    if script is None or redact_text(script["source"]) == script["source"]:
        return script
    return script | {"source": HIDDEN}
