"""How a curl command connects, as options of `jostle hit`."""

import re
from ipaddress import ip_address
from typing import Any

from jostle.errors import PlanError
from jostle.plan.curl.parse import Operation
from jostle.url import address_of, host_and_port

__all__ = ["connection_options"]

REDIRECTS = 50
"""How many redirects curl follows for one request if no number is given."""


def connection_options(operation: Operation, url: str) -> dict[str, Any]:
    """The options of `jostle.plan.hit.plan.PLACES` for this part of a command, whose first URL is `url`."""
    secure = url.lower().startswith("https:")
    options: dict[str, Any] = {
        **(_tls(operation) if secure else {}),
        "timeout": _seconds(operation, "max-time"),
        "connect_timeout": _seconds(operation, "connect-timeout"),
        "redirects": _redirects(operation),
        "http2": _http2(operation, secure=secure),
        "connect_to": _connect_to(operation, url) or None,
    }
    if (interface := operation.last("interface")) is not None:
        options["source_addresses"] = [_address(interface.removeprefix("host!"), "--interface")]
    if operation.last("tcp-nodelay") == "no":
        options["nodelay"] = False
    return {name: value for name, value in options.items() if value is not None}


def _seconds(operation: Operation, name: str) -> str | None:
    value = operation.last(name)
    if value is not None and not re.fullmatch(r"\d{1,9}(\.\d{0,9})?|\.\d{1,9}", value):
        raise PlanError(f"curl's --{name}: {value!r} is no number of seconds", "write for example 2.5")
    return None if value is None or value.strip("0.") == "" else f"{value.removesuffix('.')}s"


def _redirects(operation: Operation) -> int | None:
    if not (operation.on("location") or operation.on("location-trusted")):
        return None
    max_redirects = _number(operation.last("max-redirs") or str(REDIRECTS), "--max-redirs")
    return None if max_redirects == 0 else REDIRECTS if max_redirects < 0 else max_redirects


def _http2(operation: Operation, *, secure: bool) -> bool | None:
    versions = operation.all("http1.1", "http2", "http2-prior-knowledge")
    last = versions[-1][0] if versions else "http1.1"
    if last == "http2" and not secure:
        raise PlanError(
            "curl's --http2 asks an http:// server to change over to HTTP/2, which jostle does not",
            "write --http2-prior-knowledge, or leave it out: few servers change over",
        )
    return True if last != "http1.1" else None


def _tls(operation: Operation) -> dict[str, Any]:
    options: dict[str, Any] = {"ca": operation.last("cacert")}
    if operation.on("insecure"):
        options["insecure"] = True
    if (cert := operation.last("cert")) is not None:
        path, colon, _ = cert.replace("\\:", "\0").partition(":")
        if colon:
            raise PlanError(
                "curl's --cert: jostle reads private keys without a pass phrase", "remove it from the key"
            )
        options["cert"] = path.replace("\0", ":")
        options["key"] = operation.last("key") or options["cert"]
    newest = operation.last("tls-max")
    if operation.on("tlsv1.3"):
        options["tls_version"] = "1.3"
    elif newest == "1.2":
        options["tls_version"] = "1.2"
    elif newest not in (None, "1.3", "default"):
        raise PlanError(
            f"curl's --tls-max {newest}: jostle speaks TLS 1.2 and 1.3", "leave it out of the command"
        )
    return options


def _connect_to(operation: Operation, url: str) -> list[str]:
    """Where to connect in place of the URL's host, from the last option that speaks of it."""
    if (socket := operation.last("unix-socket")) is not None:
        return [f"unix:{socket}"]
    if (name := operation.last("abstract-unix-socket")) is not None:
        return [f"unix:@{name}"]
    host, port = host_and_port(url)
    for name, value in reversed(operation.all("connect-to", "resolve")):
        places = _connected(value, host, port) if name == "connect-to" else _resolved(value, host, port)
        if places:
            return places
    family = operation.all("ipv4", "ipv6")
    if family and not _is_address(host):
        raise PlanError(
            f"curl's --{family[-1][0]}: jostle connects to every address that the name {host} has",
            "give --connect-to IP:PORT before curl",
        )
    return []


def _connected(value: str, host: str, port: int) -> list[str]:
    """Where HOST1:PORT1:HOST2:PORT2 leads this server. An empty part fits all, or changes nothing."""
    pieces = _divided(value)
    if len(pieces) != 4:
        raise PlanError(
            f"curl's --connect-to: {value!r} is not HOST1:PORT1:HOST2:PORT2", "compare it with its source"
        )
    from_host, from_port, to_host, to_port = pieces
    if from_host not in ("", host) or from_port not in ("", str(port)) or not (to_host or to_port):
        return []
    to_port = to_port or str(port)
    return [address_of(_address(to_host or host, "--connect-to"), _number(to_port, "--connect-to"))]


def _resolved(value: str, host: str, port: int) -> list[str]:
    """The places that [+]HOST:PORT:ADDRESS,… has for this server."""
    name, _, rest = value.lstrip("+").partition(":")
    number, _, addresses = rest.partition(":")
    if name not in ("*", host) or number != str(port):
        return []
    return [address_of(_address(one, "--resolve"), port) for one in addresses.split(",")]


def _divided(value: str) -> list[str]:
    """The parts between colons; brackets hold an address together."""
    pieces, depth = [""], 0
    for character in value:
        depth += (character == "[") - (character == "]")
        if character == ":" and not depth:
            pieces.append("")
        else:
            pieces[-1] += character
    return pieces


def _number(text: str, option: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise PlanError(f"curl's {option}: {text!r} is no number", "compare it with its source")
    return int(text)


def _is_address(text: str) -> bool:
    try:
        ip_address(text.strip("[]"))
    except ValueError:
        return False
    return True


def _address(text: str, option: str) -> str:
    if not _is_address(text):
        raise PlanError(
            f"curl's {option}: {text!r} is no IP address", "give --connect-to IP:PORT before curl"
        )
    return text.strip("[]")
