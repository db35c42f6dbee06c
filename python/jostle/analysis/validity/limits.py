"""Limits: whether the generator ran out of open files or local ports, and the server had its memory limit.

Open files and ports are counted at the end of every interval, beside the results. Nothing is reported while
plenty are left, nor for generators on other machines: the record only has the limits of the machine that
drove the run.
"""

from collections.abc import Collection

from jostle.analysis.results import Check
from jostle.analysis.trials.data import MEASURED, TrialData
from jostle.host.limits import PortRange
from jostle.record.outcomes import OUT_OF_FILES, OUT_OF_PORTS, Outcome
from jostle.record.verdict import Verdict
from jostle.units import format_bytes, format_count

__all__ = ["memory_limited", "open_files_limit", "port_limit", "within_files", "within_ports"]

OURS = ": the generator's limit, not the server's"

PLENTY, FULL = 0.50, 0.98
"""Shares of a limit: below the first nothing is reported; from the second on, it explains failed connects
whose reason is not known."""


def within_files(data: TrialData) -> Check | None:
    """Descriptors of the fullest generator process against its hard limit."""
    hard = open_files_limit(data)
    held = int(data.counts.open_files.max(initial=0))
    message = f"a generator process held {format_count(held)} of {format_count(hard)} open files"
    return _check(data, "open files", held, hard, message, "raise the limit: ulimit -Hn", OUT_OF_FILES)


def within_ports(data: TrialData) -> Check | None:
    """Local ports of the fullest address, to one destination, against the kernel's range."""
    limit = port_limit(data)
    fullest = data.counts.fullest_port
    if fullest is None:
        return None
    source = fullest["from"] or "the local address"
    held = f"{format_count(fullest['held'])} of {format_count(limit)} ports to {fullest['to']}"
    remedy = "give connection.source-addresses more addresses, or widen net.ipv4.ip_local_port_range"
    return _check(data, "local ports", fullest["held"], limit, f"{source} held {held}", remedy, OUT_OF_PORTS)


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


def _check(
    data: TrialData, name: str, held: int, limit: int, message: str, remedy: str, reasons: Collection[str]
) -> Check | None:
    """`reasons`: those of failed connects that say so; a record without any tells it by the limit. They may
    have run out below the limit that was known at the start: other programs use ports, too.
    """
    share = held / limit if limit > 0 else 0.0
    known = data.reasons(Outcome.CONNECT_FAILED)
    said = sum(count for reason, count in known.items() if reason in reasons)
    if said:
        message = f"{format_count(said)} connects failed for lack of {name}{OURS}"
        return Check(name, Verdict.SUSPECT, said, 0, "connects", message, remedy)
    failed = data.outcomes(MEASURED).get(Outcome.CONNECT_FAILED, 0)
    if share >= FULL and failed and not known:
        message = f"{format_count(failed)} connects failed, and {message}{OURS}"
        return Check(name, Verdict.SUSPECT, share, FULL, "share", message, remedy)
    return Check(name, Verdict.VALID, share, FULL, "share", message) if share >= PLENTY else None


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
