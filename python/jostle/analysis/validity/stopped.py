"""Whether the server's processes were stopped while it was measured: by a signal, a debugger, a freezer."""

from jostle.analysis.results import Check
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity.figures import RATES, TIMES
from jostle.formatting import percent, plural
from jostle.record.verdict import Verdict

__all__ = ["server_ran"]

REMEDY = "find out who stops it (SIGSTOP, Ctrl-Z, a debugger or profiler), and run it again"


def server_ran(data: TrialData) -> Check | None:
    """Suspect: times, and the rates of a closed loop. None if it was never seen stopped, and in older
    records.
    """
    server = data.resource_usage
    if not server.stopped:
        return None
    share = server.stopped / len(server.t_ns)
    message = (
        f"processes of the server were stopped in {server.stopped} of {plural(len(server.t_ns), 'sample')}, "
        f"about {percent(share)} of the time"
    )
    affects = (*(RATES if data.closed is not None else ()), *TIMES)
    return Check("stopped", Verdict.SUSPECT, share, 0, "share", message, REMEDY, affects, "machine")
