"""`jostle cluster`: the machines that generate load together."""

from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.help import Command, group

__all__ = ["app"]

app = group(
    help="""Generate one load on many machines (docs/CLUSTER.md).

\b
  jostle cluster init secrets head=10.0.0.1 n1=10.0.0.11 n2=10.0.0.12
                                                    certificates and a token
  (copy secrets/NAME to each machine, as ~/.config/jostle/cluster)
  jostle cluster start --ip 10.0.0.1                on the head
  jostle cluster start --ip 10.0.0.11 --join 10.0.0.1:6379
                                                    on each other node
  jostle hit http://10.0.0.99:8080/ --cluster 10.0.0.1:6379 --allow-target 10.0.0.99
  jostle cluster stop                               on each node
""",
)


@app.command("init", cls=Command)
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the secrets; keep it private.")],
    nodes: Annotated[list[str], typer.Argument(metavar="NAME=IP…", help="All nodes, the head too.")],
) -> None:
    """Write a certificate and a key for each node, and one token.

    Run it again with more nodes to add them.
    """
    from jostle.errors import ClusterRefused
    from jostle.generator.cluster.pki import write_credentials

    pairs = {}
    for text in nodes:
        name, equals, address = text.partition("=")
        if not (name and equals and address):
            raise ClusterRefused(f"{text!r} is not NAME=IP", "for example: n1=10.0.0.11")
        if name in pairs:
            raise ClusterRefused(f"node {name} is named twice", "give each node its own name")
        pairs[name] = address
    for written in write_credentials(folder, pairs):
        print(f"{written}/   copy it to {pairs[written.name]}, as ~/.config/jostle/cluster")
    print(f"{folder}/ca.key and {folder}/token stay here: whoever has them can use the cluster")


@app.command("start", cls=Command)
def start(
    address: Annotated[
        str, typer.Option("--ip", metavar="IP", help="This machine's address in the cluster.")
    ],
    join: Annotated[
        str | None, typer.Option("--join", metavar="HEAD:PORT", help="The head; without it this is the head.")
    ] = None,
    generate: Annotated[
        bool | None,
        typer.Option("--generate/--no-generate", help="Generate load here (nodes do, the head does not)."),
    ] = None,
    block: Annotated[
        bool, typer.Option("--block", help="Stay in the foreground, as systemd and containers need.")
    ] = False,
    autoscaling_config: Annotated[
        Path | None,
        typer.Option("--autoscaling-config", metavar="FILE", help="The file of `ray up`, for the head."),
    ] = None,
) -> None:
    """Start a node here: Ray with a token, TLS and fixed ports."""
    from jostle.generator.cluster.node import start_node

    generates = join is not None if generate is None else generate
    start_node(address, head=join, generate=generates, block=block, starts=autoscaling_config)


@app.command("stop", cls=Command)
def stop() -> None:
    """Stop the node on this machine."""
    from jostle.generator.cluster.node import stop_node

    stop_node()


@app.command("ports", cls=Command)
def ports() -> None:
    """List the ports that must be open between the nodes."""
    from jostle.generator.cluster.node import HEAD_PORT, PORTS

    print(f"{HEAD_PORT:<13} on the head")
    low, high = PORTS["min-worker-port"], PORTS["max-worker-port"]
    print(f"{low}-{high:<7} generators and drivers")
    for name, port in PORTS.items():
        if "worker" not in name:
            print(f"{port:<13} {name.removesuffix('-port').replace('-', ' ')}")
