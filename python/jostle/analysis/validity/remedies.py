"""What to do about requests that failed, by how they failed."""

from collections.abc import Mapping

from jostle.record.outcomes import Outcome

__all__ = ["remedy_for"]

CORRECT = "send the request by hand; correct the expectation, or the server"
CUT_OFF = (
    "the server ends connections or streams before the response: check its log and its limits, and whether "
    "the scheme is right (http, https)"
)
REMEDIES: Mapping[str, str] = {
    Outcome.CONNECT_REFUSED: "is the server running, and still accepting? check its log and its accept queue",
    Outcome.CONNECT_TIMEOUT: "nothing is listening, or it accepts too slowly: "
    "check its accept queue, or send less",
    Outcome.CONNECT_FAILED: "no connection could be made from here: "
    "check local addresses, ports and open files",
    Outcome.DNS_FAILED: "the name was not found: correct it, or give --connect-to",
    Outcome.TLS_FAILED: "the certificate is not trusted or has another name, or the port does not speak TLS "
    "(curl -v shows it); trust its authority (--cacert; tls.ca in a plan), "
    "or do not verify it (-k; tls.verify = false); a server that requires a certificate: --cert, --key",
    Outcome.RESET: CUT_OFF,
    Outcome.CLOSED_EARLY: CUT_OFF,
    Outcome.CAPTURE_FAILED: 'see its responses (`jostle check`); on-capture-failed = "ignore" accepts them',
    Outcome.STALE: "it closes connections between requests: idle ones (shorten the think time, or raise its "
    "keep-alive timeout), or after some requests (--requests-per-connection N sends no more than that)",
    Outcome.RESPONSE_TIMEOUT: "send less, or raise the timeout: requests that are given up "
    "have only a lower bound",
    Outcome.MALFORMED: "its responses break the rules of HTTP, WebSocket or gRPC: try one by hand (curl -v)",
    Outcome.TOO_LARGE: "raise body-limit, or ask for less",
    Outcome.REDIRECT_FAILED: "a loop: try it by hand (curl -L); another host: --allow-target HOST, "
    "if it is yours",
    Outcome.STREAM_STALLED: "send less, or raise stall: streams that are given up have only a lower bound",
    Outcome.STREAM_ENDED: "try it by hand (curl -N): does the stream end as requested (until, events)?",
    Outcome.STREAM_ERROR: "the server reports errors within its streams, in its own words; `fails` says "
    "which events are errors",
    Outcome.NO_STREAM: "try it by hand (curl -i): server-sent events are text/event-stream; "
    "else read the stream as lines",
    Outcome.UPGRADE_REFUSED: "is the path that of a WebSocket, and does it want a header "
    "(Origin, Authorization, Sec-WebSocket-Protocol)?",
    Outcome.SCRIPT_FAILED: "the text names the line of the script; `jostle check` shows what was said",
    Outcome.GRPC_STATUS: "look at the server's log; a call that is to fail is right with expect.grpc-status",
    Outcome.UNSENDABLE: "the reason names the variable and its place: look at where its value comes from "
    "(`jostle check` shows captured values)",
    Outcome.WRONG_STATUS: CORRECT,
    Outcome.WRONG_BODY: CORRECT,
}


def remedy_for(failures: Mapping[str, int]) -> str:
    """What to do about the most frequent of the failures (outcomes, with how many there were).

    Empty for an outcome that another version of jostle recorded.
    """
    return REMEDIES.get(max(failures, key=lambda kind: failures[kind]), "")
