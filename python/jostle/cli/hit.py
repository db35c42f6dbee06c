"""`jostle hit URL`: load one server now."""

import tempfile
from pathlib import Path

from jostle.cli.hit_options import (
    Arrivals,
    Body,
    CaCert,
    ClientCert,
    ClientKey,
    Connections,
    ConnectTimeout,
    ConnectTo,
    Duration,
    Expect,
    FirstByteTimeout,
    Header,
    HitSeed,
    Insecure,
    KeepAlive,
    Method,
    PerConnection,
    Rate,
    Requests,
    Save,
    SourceAddress,
    Think,
    Threads,
    Timeout,
    UnixSocket,
    Url,
)
from jostle.cli.options import AllowTargets, AsJson, Cluster, Processes
from jostle.errors import PlanError

__all__ = ["hit"]

HELP = """Load one server now and say what its clients felt.

\b
  jostle hit http://localhost:8080/                       10 clients for 10 seconds
  jostle hit http://localhost:8080/ -c 50 -d 30s          50 clients
  jostle hit http://localhost:8080/ -n 10000              10,000 requests in all
  jostle hit http://localhost:8080/ --rate 2000/s         open loop, Poisson arrivals
  jostle hit http://localhost:8080/api -m POST -H 'Content-Type: application/json' -b '{"id": 1}'
  jostle hit http://localhost:8080/ -c 10000 --think '900ms ± 10%' --expect 'Hello' --json
  jostle hit https://api.local/ --connect-to 127.0.0.1:8443 --cacert ca.pem --cert me.pem --key me.key

Closed loop (-c): each client sends, waits for the answer, and sends again. Open loop (--rate): requests are
due at times that do not depend on the answers, and response times count from when they were due.
"""


def hit(
    url: Url,
    connections: Connections = None,
    duration: Duration = None,
    requests: Requests = None,
    rate: Rate = None,
    arrivals: Arrivals = "poisson",
    think: Think = None,
    method: Method = None,
    header: Header = None,
    body: Body = None,
    expect: Expect = None,
    timeout: Timeout = "10s",
    first_byte_timeout: FirstByteTimeout = None,
    connect_timeout: ConnectTimeout = None,
    keepalive: KeepAlive = True,
    requests_per_connection: PerConnection = None,
    connect_to: ConnectTo = None,
    unix_socket: UnixSocket = None,
    source_address: SourceAddress = None,
    insecure: Insecure = False,
    cacert: CaCert = None,
    cert: ClientCert = None,
    key: ClientKey = None,
    threads: Threads = 1,
    processes: Processes = None,
    seed: HitSeed = None,
    save: Save = None,
    cluster: Cluster = None,
    allow_target: AllowTargets = None,
    as_json: AsJson = False,
) -> int:
    from jostle.cli.carry_out import carry_out
    from jostle.plan import Plan

    if unix_socket is not None and not unix_socket.is_socket():
        raise PlanError(f"--unix-socket: {unix_socket} is no socket", "is its server running?")
    trust = {"ca": cacert, "cert": cert, "key": key}
    plan = Plan.for_hit(
        url,
        clients=connections,
        seconds=duration,
        requests=requests,
        rate=rate,
        arrivals=arrivals,
        method=method,
        headers=header or [],
        body=body,
        expect=expect,
        keep_alive=keepalive,
        requests_per_connection=requests_per_connection,
        think=think,
        timeout=timeout,
        first_byte_timeout=first_byte_timeout,
        connect_timeout=connect_timeout,
        connect_to=[*(connect_to or []), *([f"unix:{unix_socket}"] if unix_socket else [])] or None,
        source_addresses=source_address,
        threads=threads,
        processes=processes,
        insecure=insecure,
        tls={name: str(file) for name, file in trust.items() if file is not None} or None,
    )
    if cluster is not None or allow_target:
        plan = plan.with_changes(cluster=cluster, allow_targets=allow_target)
    if save is not None:
        return carry_out(plan, save, "hit", seed=seed, as_json=as_json, pages=False)
    with tempfile.TemporaryDirectory(prefix="jostle-") as folder:
        return carry_out(plan, Path(folder), "hit", seed=seed, as_json=as_json, pages=False)


hit.__doc__ = HELP
