"""A server that does not accept: what its clients wait for is told."""

import socket

from support.real import Jostle


def test_a_full_backlog_is_told(jostle_command: Jostle) -> None:
    """Its backlog has room for two connections; the kernel drops the others."""
    with socket.create_server(("127.0.0.1", 0), backlog=1) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        told = jostle_command("hit", url, "-c", "8", "-n", "8", "--timeout", "500ms")
    said = " ".join(told.stdout.split())
    assert "because the server's backlog was full: it accepts more slowly than they come" in said
    assert "no response to the connection request" in said
