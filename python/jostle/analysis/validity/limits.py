"""Limits: whether the generator ran out of open files or local ports, and the server had its memory limit.

Open files and ports are counted at the end of every interval, beside the results. Nothing is reported while
plenty are left, nor for generators on other machines: the record only has the limits of the machine that
drove the run.
"""

from jostle.analysis.results import Check
from jostle.analysis.trials.data import MEASURED, TrialData
from jostle.host.limits import PortRange
from jostle.record.outcomes import Outcome
from jostle.record.verdict import Verdict
from jostle.units import format_bytes, format_count

__all__ = ["memory_limited", "open_files_limit", "port_limit", "within_files", "within_ports"]

PLENTY, FULL = 0.50, 0.98
"""Shares of a limit: below the first nothing is reported; from the second on, it explains failed connects."""


def within_files(data: TrialData) -> Check | None:
    """Descriptors of the fullest generator process against its hard limit."""
    hard = open_files_limit(data)
    held = int(data.counts.open_files.max(initial=0))
    message = f"a generator process held {format_count(held)} of {format_count(hard)} open files"
    return _check(data, "open files", held, hard, message, "raise the limit: ulimit -Hn")


def within_ports(data: TrialData) -> Check | None:
    """Local ports of the fullest address, to one destination, against the kernel's range."""
    limit = port_limit(data)
    fullest = data.counts.fullest_port
    if fullest is None:
        return None
    source = fullest["from"] or "the local address"
    held = f"{format_count(fullest['held'])} of {format_count(limit)} ports to {fullest['to']}"
    remedy = "give connection.source-addresses more addresses, or widen net.ipv4.ip_local_port_range"
    return _check(data, "local ports", fullest["held"], limit, f"{source} held {held}", remedy)


def memory_limited(data: TrialData) -> Check | None:
    """Whether the server had the memory limit that its workload asks for; None if it asks for none."""
    limit = data.trial.server.get("memory_limit")
    if limit is None:
        return None
    size, why = format_bytes(limit["bytes"]), limit["why_not"]
    if not why:
        message = f"the server's processes could hold {size} together"
        return Check("memory limit", Verdict.VALID, None, None, "", message)
    message = f"the server ran without its limit of {size}: {why}"
    remedy = "run jostle as root on a machine or in a container that lets it make control groups"
    return Check("memory limit", Verdict.SUSPECT, None, None, "", message, remedy, cause="plan")


def _check(data: TrialData, name: str, held: int, limit: int, message: str, remedy: str) -> Check | None:
    share = held / limit if limit > 0 else 0.0
    if share < PLENTY:
        return None
    failed = data.outcomes(MEASURED).get(Outcome.CONNECT_FAILED, 0)
    if share < FULL or not failed:
        return Check(name, Verdict.VALID, share, FULL, "share", message)
    message = (
        f"{format_count(failed)} connects failed, and {message}: the generator's limit, not the server's"
    )
    return Check(name, Verdict.SUSPECT, share, FULL, "share", message, remedy)


def open_files_limit(data: TrialData) -> int:
    """The limit of a generator process; 0 if it is not known."""
    return 0 if _elsewhere(data) else int(data.host.get("limits", {}).get("open_files", {}).get("hard", 0))


def port_limit(data: TrialData) -> int:
    """Number of ports that the kernel gives to connections from one address; 0 if it is not known."""
    ports = PortRange.parse(str(data.host.get("settings", {}).get("net/ipv4/ip_local_port_range", "")))
    return 0 if _elsewhere(data) or ports is None else len(ports)


def _elsewhere(data: TrialData) -> bool:
    """Whether some generator ran on another machine than the one whose limits were recorded."""
    return any(generator.get("host") for generator in data.trial.description.get("generators", ()))
