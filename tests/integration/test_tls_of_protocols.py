"""TLS is one for all protocols: handshakes are full, or resumed where that is asked for. nginx ends it, and
answers by itself or hands on to a reference server."""

from collections.abc import Iterator

import pytest

from jostle.host.ports import claim
from support.handlers import certificate_in
from support.nginx import nginx
from support.real import REFERENCE_PROTO, Jostle, as_json, reference_server

SERVER = """
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    location / {{ return 200 "over TLS"; }}
    location /jostle.Echo/ {{ grpc_pass grpc://{grpc}; }}
    location /echo {{
      proxy_pass http://{websocket};
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection upgrade;
    }}
  }}
"""

REQUESTS = 12
PROTOCOLS = {
    "HTTP/1.1": ["https://{}/"],
    "HTTP/2": ["https://{}/", "--http2"],
    "events": ["https://{}/", "--stream", "lines"],
    "WebSocket": ["wss://{}/echo", "--send", "hello"],
    "gRPC": ["grpcs://{}/jostle.Echo/Say", "--proto", str(REFERENCE_PROTO), "--message", "{}"],
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where nginx listens."""
    folder = tmp_path_factory.mktemp("nginx")
    certificate_in(folder)
    port = claim(0)
    with reference_server("websocket") as websocket, reference_server("grpc") as grpc:
        there = {"websocket": websocket.removeprefix("http://"), "grpc": grpc.removeprefix("http://")}
        with nginx(folder, SERVER.format(folder=folder, port=port, **there)):
            yield f"127.0.0.1:{port}"


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_handshakes_are_full_unless_resuming_is_asked_for(
    jostle_command: Jostle, address: str, protocol: str, *, resume: bool
) -> None:
    url, *options = PROTOCOLS[protocol]
    options += ["-k", "-c", "2", "-n", str(REQUESTS), "--requests-per-connection", "1"]
    options += ["--tls-resume"] if resume else []
    result = as_json(jostle_command("hit", url.format(address), *options, "--json"))
    assert result["trials"][0]["outcomes"] == {"ok": REQUESTS}
    # The first handshake of each of the two clients is full.
    told = f"TLS sessions were resumed in {REQUESTS - 2} of {REQUESTS} connects."
    assert [note for note in result["notes"] if note.startswith("TLS")] == ([told] if resume else [])
