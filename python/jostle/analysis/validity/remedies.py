"""What to do about requests that failed, by how they failed."""

from collections.abc import Mapping

__all__ = ["remedy_for"]

CORRECT = "ask the server for the request by hand; correct what is expected, or the server"
CUT_OFF = "the server closes connections: look at its log, and whether it speaks what was asked (http, https)"
REMEDIES = {
    "connect_refused": "is the server running, and still accepting? look at its log and its accept queue",
    "connect_timeout": "nobody is there, or it accepts too slowly: look at its accept queue, or send less",
    "connect_failed": "no connection could be made from here: look at local addresses, ports and open files",
    "dns_failed": "the name was not found: correct it, or say where to connect to",
    "tls_failed": "the certificate is not trusted or for another name, or this is no TLS: curl -v tells; "
    "trust its authority (--cacert; tls.ca in a plan), or do not verify it (-k; tls.verify = false)",
    "reset": CUT_OFF,
    "closed_early": CUT_OFF,
    "response_timeout": "send less, or raise the timeout: of what is given up only a bound is known",
    "malformed": "what answers does not speak HTTP/1.1: ask it by hand (curl -v)",
    "too_large": "raise body-limit, or ask for less",
    "wrong_status": CORRECT,
    "wrong_body": CORRECT,
}


def remedy_for(failures: Mapping[str, int]) -> str:
    """What to do about the most frequent of the failures (outcomes, with how many there were)."""
    return REMEDIES[max(failures, key=lambda kind: failures[kind])]
