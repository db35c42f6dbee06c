"""Checks of HTTP/2 without TLS, spoken from the first byte on (h2c with prior knowledge)."""

from dataclasses import dataclass

from jostle.contestant.checks import TIMEOUT_S, CheckedServer, WrongResponse, expect
from jostle.contestant.http2 import Http2Client, Http2Error

__all__ = ["ResponsesHttp2", "does_not_speak_http2"]

STREAMS = 20
"""Streams at once on a connection; every server allows a hundred or more."""
SILENCE_S = 2.0
"""A server that does not answer the start of an HTTP/2 connection for this long does not speak it."""


@dataclass(frozen=True)
class ResponsesHttp2:
    """Each of several simultaneous requests on one connection gets its response."""

    path: str
    kind: str
    body: bytes

    def __call__(self, target: CheckedServer) -> None:
        with Http2Client(target.host, target.port, TIMEOUT_S) as client:
            left = {client.request(self.path) for _ in range(STREAMS)}
            heads, bodies = dict[int, tuple[str, str]](), dict.fromkeys(left, b"")
            while left:
                part = client.receive()
                if ":status" in part.fields:
                    kind = part.fields.get("content-type", "").partition(";")[0]
                    heads[part.stream] = part.fields[":status"], kind
                bodies[part.stream] += part.data
                if part.end:
                    left.remove(part.stream)
        for stream, body in bodies.items():
            expect(f"GET {self.path} over HTTP/2: status and content type", heads[stream], ("200", self.kind))
            expect(f"GET {self.path} over HTTP/2: body", body, self.body)


def does_not_speak_http2(target: CheckedServer) -> None:
    """Check that an HTTP/2 connection is not accepted."""
    try:
        Http2Client(target.host, target.port, SILENCE_S).close()
    except (OSError, Http2Error):
        return
    raise WrongResponse("it speaks HTTP/2, though its file does not say so (speaks)")
