"""The parameters of a request for the engine: how each of its values is drawn."""

from collections.abc import Mapping
from typing import Any

from jostle.errors import BadValue, PlanError
from jostle.generator.spec.address import Address
from jostle.generator.spec.journeys import check_no_slash
from jostle.plan.requests.raw import SERIALS
from jostle.plan.requests.request import Request
from jostle.plan.values import Params
from jostle.url import Url, path_at

__all__ = ["params_spec"]


def params_spec(request: Request, address: Address) -> dict[str, Any]:
    """The plan's parameters, and the serial numbers in raw bytes."""
    params = {name: _param(param) for name, param in request.params.items()}
    for name in params:
        if request.path == f"{{{name}}}":
            params[name] = _paths(name, params[name], address)
        elif request.path == f"/{{{name}}}":
            for value in _listed(params[name]):
                check_no_slash(f"params.{name}", name, value)
    sent = request.tcp or request.udp
    if sent is not None:
        found = SERIALS.findall(sent.text or sent.hex or "")
        params |= {name: {"serial": {"bytes": int(bits) // 8}} for name, bits in found}
    return params


def _param(param: Params) -> dict[str, Any]:
    if param.kind == "range":
        return {"range": {"from": param.low, "to": param.high}}
    return {"choice": list(param.values)} if param.kind == "choice" else {"in-turn": param.column()}


def _listed(param: Mapping[str, Any]) -> list[str]:
    """The values of a parameter that is no range."""
    return [value for kind in ("choice", "in-turn") for value in param.get(kind, ())]


def _paths(name: str, param: Mapping[str, Any], address: Address) -> dict[str, Any]:
    """A parameter whose values are whole paths, or URLs of the server. Raises `PlanError` for others."""
    server = Url("https" if address.tls else "http", address.host, address.port)
    try:
        return {kind: [path_at(server, value) for value in values] for kind, values in param.items()}
    except BadValue as error:
        raise PlanError(f"params.{name}: {error.message}", error.hint) from None
