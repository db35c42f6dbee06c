"""From a server to its explanation: which probes are sent, and in what order."""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from jostle import roster
from jostle.contestant import find, is_known
from jostle.contestant.certificate import check_certificate
from jostle.contestant.protocols import check_explained
from jostle.contestant.server import Server, attach
from jostle.errors import PlanError, UnknownName, UnreachableTarget
from jostle.explain.answer import answer
from jostle.explain.finding import Finding
from jostle.explain.results import Explanation, RouteEntry
from jostle.explain.send import EngineSender, Sender
from jostle.explain.server.limits import GENTLE, THOROUGH, Budget, Limits
from jostle.explain.server.observe import usage_of
from jostle.explain.server.routes import (
    CALL,
    CALL_THAT_WAITS,
    Request,
    contract_call,
    contract_routes,
    given_routes,
)
from jostle.explain.server.target import ResponseHead, Route, Target, check, connect_s, intermediary, look
from jostle.explain.session import Session
from jostle.explain.stages import findings_of
from jostle.formatting import plural
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.host.cores import available_cores, place
from jostle.host.pressure import pressure_s
from jostle.plan.hit.plan import hit_plan
from jostle.plan.model import Plan
from jostle.redaction.data import redact
from jostle.runner.observer import Tell, silent
from jostle.text import one_line
from jostle.units import format_span
from jostle.url import read_url, shown

__all__ = ["examine", "explain", "target_of"]

Intensity = Literal["gentle", "thorough"]

SPOKEN = {"ws": "WebSocket", "wss": "WebSocket", "tcp": "TCP", "udp": "UDP"}
"""The protocol's name for readers, by URL scheme, unless it is a version of HTTP."""

REQUEST_OPTIONS = (
    "headers", "http2", "insecure", "send", "match", "until", "proto", "import_path", "message",
)  # fmt: skip
"""Options of a request, as `hit_plan` takes them."""

LIMITS: dict[Intensity, Limits] = {"gentle": GENTLE, "thorough": THOROUGH}


def explain(
    server: str,
    *,
    slow: Sequence[str] = (),
    wait: str | None = None,
    intensity: Intensity | None = None,
    budget: float = 180.0,
    overload: bool = False,
    timeout: float = 10.0,
    share_cores: bool = False,
    pid: int | None = None,
    tell: Tell = silent,
    **request: Any,
) -> Explanation:
    """Explains how a server behaves, and why: this is what `jostle explain` does.

    `server`: the URL of a running server, or the label of a contestant, which is then started. `slow`,
    `wait`: paths of routes that take long, and of one that waits for something else; not for a contestant,
    whose contract names its routes. With grpc:// they are methods, each with its message if it has one
    (`"shop.Shop/Report {\"days\": 90}"`), or only messages for the same method; with ws://, tcp:// and udp://
    they are what is sent in place of `send`. `intensity`: the default is "gentle" for a server that jostle
    did not start. `budget`: seconds for all probes. `overload`: also send probes that overload the server.
    `timeout`: seconds after which a request is given up. `pid`: the process of a running server, to watch
    its CPU time. `tell`: called with the limits, which stay, and with what is being asked. `request`: those
    options of `jostle.hit` that `REQUEST_OPTIONS` lists; with `http2`, streams of one connection are asked
    about, too.

    Raises `JostleError` if there is nothing to explain: no response, an error, or a redirect.
    """
    with target_of(
        server, slow=slow, wait=wait, timeout=timeout, share_cores=share_cores, pid=pid, **request
    ) as target:
        limits = LIMITS[intensity or ("thorough" if target.started_here else "gentle")]
        limits = replace(limits, seconds=budget)
        looks = _looks(target, timeout)
        delay_s = min(connect_s(target) for _ in target.routes)
        spent = Budget(limits)
        sender = EngineSender(target, spent, timeout)
        given = [
            *(option for path in slow for option in ("--slow", path)),
            *(["--wait", wait] if wait else []),
            *(["--thorough"] if intensity == "thorough" else []),
            *(["--pid", str(pid)] if pid is not None else []),
            *(["--overload"] if overload else []),
        ]
        return examine(
            target,
            looks,
            sender,
            spent,
            delay_s=delay_s,
            overload=overload,
            asked_with=["jostle", "explain", shown(server), *map(redact, given)],
            tell=tell,
        )


def _looks(target: Target, timeout: float) -> list[ResponseHead]:
    """The head of one response from every route; empty if responses have no head. Raises `UserError`."""
    if target.over_http:
        looks = [look(target, route) for route in target.routes]
        check(target, looks)
        return looks
    sender = EngineSender(target, Budget(GENTLE), timeout)
    for route in target.routes:
        if why := sender.why_not(route):
            raise UnreachableTarget(
                f"{route.in_sentences} is not answered over {target.protocol}: {one_line(why)}",
                "name what the server answers, and as it expects it",
            )
    return []


@contextlib.contextmanager
def target_of(
    server: str,
    *,
    slow: Sequence[str] = (),
    wait: str | None = None,
    timeout: float = 10.0,
    share_cores: bool = False,
    pid: int | None = None,
    **request: Any,
) -> Iterator[Target]:
    """A running server, or a contestant, which is stopped at the end. The options are those of `explain`."""
    for name in request.keys() - set(REQUEST_OPTIONS):
        raise TypeError(f"explain() has no option {name!r}")
    options = {name: value for name, value in request.items() if value}
    http2 = bool(options.get("http2"))
    if is_known(server):
        if slow or wait or options.keys() - {"http2"} or pid is not None:
            raise PlanError(
                f"{server} is a contestant: its contract names its routes",
                "start it (jostle contestants start) and explain its URL to choose other ones",
            )
        with _started(server, timeout, http2=http2, share_cores=share_cores) as target:
            yield target
    elif is_known(label := server.partition("/")[0]):
        raise PlanError(
            f"{server}: a contestant is explained without a path, as its contract names its routes",
            f"jostle explain {label}, or start it (jostle contestants start) and explain its URL",
        )
    elif not set(server) & set(".:/@") and server != "localhost":
        raise UnknownName("contestant", server, roster.names())
    elif share_cores:
        raise PlanError(
            "--share-cores is for contestants", f"{shown(server)} runs already, on cores of its own choice"
        )
    else:
        yield _running(server, slow, wait, options, pid)


@contextlib.contextmanager
def _started(label: str, timeout: float, *, http2: bool, share_cores: bool) -> Iterator[Target]:
    """A contestant, started on cores of its own if possible, with its routes."""
    contestant = find(label)
    if not contestant.is_started_here:
        raise PlanError(f"{label} is not started by jostle", "explain its URL")
    protocol = check_explained(contestant, http2=http2)
    calls = protocol == "gRPC"
    options: dict[str, Any] = {"http2": True} if http2 else CALL if calls else {}
    placement = place(available_cores(), share_cores)
    own = placement.shared is False
    with contestant.start(cores=placement.server_cores if own else None) as server:
        url = contract_call(f"{server.host}:{server.port}") if calls else f"{server.url}/"
        workload = _workload(hit_plan(url, options), server)
        target = Target(
            label=contestant.label,
            url=server.url,
            routes=(),
            workload=workload,
            protocol=protocol,
            options={} if calls else options,
            generator_cores=tuple(placement.generator_cores) if own else (),
            usage=usage_of(server.pid) if server.pid is not None else None,
            started_here=True,
            cores=len(placement.server_cores),
        )
        if calls:
            request = _request_of(options, server)
            (first,) = workload["requests"]
            routes = given_routes(url, server.url, first, (), CALL_THAT_WAITS, options, request)
            yield replace(target, routes=tuple(routes))
            return
        sender = EngineSender(target, Budget(THOROUGH), timeout)

        def serve(route: Route, count: int) -> list[float]:
            return [a.service_s for a in sender.serial(route, count, 0.0) if a.service_s is not None]

        yield replace(target, routes=contract_routes(contestant.file, serve))


def _running(
    url: str, slow: Sequence[str], wait: str | None, options: Mapping[str, Any], pid: int | None
) -> Target:
    """A server that is already running. Raises `UnreachableTarget` if it cannot be connected to."""
    plan = hit_plan(url, options)
    (name,) = plan.contestants
    server_url = plan.contestant[name].url
    assert server_url is not None, "a hit goes to a URL"
    server = attach(name, server_url, pid)
    workload = _workload(plan, server)
    check_certificate(workload["target"])
    (first,) = workload["requests"]
    headers: dict[str, list[str]] = {}
    for name, line in first["headers"]:
        headers.setdefault(name, []).append(line)
    routes = given_routes(url, server.url, first, slow, wait, options, _request_of(options, server))
    paths = [route.name for route in routes]
    if twice := next((path for path in paths if paths.count(path) > 1), None):
        raise PlanError(f"{twice} is given twice", "name each route once")
    hit = plan.workload["hit"]
    return Target(
        label=server.url,
        url=server.url,
        routes=tuple(routes),
        workload=workload,
        protocol=SPOKEN.get(read_url(url).scheme) or hit.protocol({}) or "",
        headers=headers,
        options={key: options[key] for key in ("http2", "insecure") if key in options},
        usage=usage_of(pid) if pid is not None else None,
    )


def _request_of(options: Mapping[str, Any], server: Server) -> Request:
    """A function that returns the engine's specification of a request to this server; `options` apply unless
    they are changed.
    """

    def request(url: str, changed: Mapping[str, Any]) -> dict[str, Any]:
        table: dict[str, Any] = _workload(hit_plan(url, {**options, **changed}), server)["requests"][0]
        return table

    return request


def _workload(plan: Plan, server: Server) -> dict[str, Any]:
    """The engine's specification of the workload that the plan asks for."""
    address = Address(
        host=server.host,
        port=server.port,
        tls=server.scheme == "https",
        authorization=server.authorization,
    )
    made: dict[str, Any] = engine_spec("explain", plan.workload["hit"], address, reflect=True)["workloads"][0]
    return made


def examine(
    target: Target,
    looks: Sequence[ResponseHead],
    sender: Sender,
    budget: Budget,
    *,
    delay_s: float = 0.0,
    overload: bool = False,
    asked_with: Sequence[str] = (),
    tell: Tell = silent,
) -> Explanation:
    """Sends all probes to a server whose routes are known to answer, and combines their findings.

    `delay_s`: what the network adds to every response. `asked_with`: the command with its options, for the
    one that would tell more.
    """
    started_unix_ns = time.time_ns()
    session = Session(
        target,
        sender,
        budget,
        lambda question: tell(f"asking {question} ({_spent(budget)})", False),
        delay_s=delay_s,
        server=one_line(looks[0].headers.get("server", "")) if looks else "",
        intermediary=intermediary(looks),
        overload=overload,
    )
    more = ", more for the overload" if overload else ""
    tell(f"{budget.limits.name}: {budget.limits.stated}{more}", True)
    waited_s = pressure_s("cpu")
    began = time.monotonic()
    findings = findings_of(session, lambda found: _tell_found(found, tell))
    found = answer(findings, asked_with)
    return Explanation(
        target=target.label,
        url=target.url,
        server=session.server,
        started_unix_ns=started_unix_ns,
        seconds=budget.spent_s,
        requests=budget.requests,
        connections=budget.connections,
        protocol=target.protocol,
        limits=f"{budget.limits.name}: {budget.limits.stated}",
        cores=target.cores,
        pressure=_share(waited_s, time.monotonic() - began),
        routes=[
            RouteEntry(r.name, r.role, a.demand_s if (a := session.alone.get(r.name)) else None)
            for r in target.routes
        ],
        paragraph=found.paragraph,
        absent=found.absent,
        command=found.command,
        unknown=found.unknown,
        findings=findings,
        bursts=session.bursts,
        interference=session.interference,
        stream=session.stream,
        family=session.family,
    )


def _spent(budget: Budget) -> str:
    """How much of the budget is used so far."""
    seconds = f"{format_span(budget.spent_s)} of {format_span(budget.limits.seconds)}"
    return f"{seconds}, {plural(budget.requests, 'request')} so far"


def _tell_found(finding: Finding, tell: Tell) -> None:
    """What is unusual, as soon as it is known."""
    if finding.decided and finding.notable:
        tell(f"found so far: {one_line(finding.says)}", True)


def _share(before_s: float | None, seconds: float) -> float | None:
    """The share of the last `seconds` in which some thread waited for a core; `before_s`: the kernel's total
    when they began.
    """
    now_s = pressure_s("cpu")
    return (
        None if before_s is None or now_s is None or seconds <= 0 else min(1.0, (now_s - before_s) / seconds)
    )
