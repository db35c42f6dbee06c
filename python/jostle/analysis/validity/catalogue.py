"""Every check by its name: what it asks, and when its response is "suspect" or "invalid"."""

from typing import NamedTuple

from jostle.analysis.stats import mixture
from jostle.analysis.trials import kept_waiting
from jostle.analysis.validity import (
    bounded,
    checks,
    failures,
    generator,
    generator_core,
    lateness,
    limits,
    lost_time,
    machine,
    quota,
    statuses,
    steady,
    wake_up,
)
from jostle.formatting import MISSING, percent
from jostle.units import format_duration

__all__ = ["CATALOGUE", "CheckDescription"]

NEVER = MISSING


class CheckDescription(NamedTuple):
    """A check as documents list it."""

    name: str
    asks: str
    suspect: str
    invalid: str


CATALOGUE = [
    CheckDescription("end", "Did the trial run to its end?", NEVER, "failed, or recorded nothing"),
    CheckDescription(
        "steered",
        "Was the load changed while it ran? Then nothing is claimed or required of the run.",
        NEVER,
        NEVER,
    ),
    CheckDescription(
        "statuses",
        "Did the right responses have the same mixture of statuses throughout, and were redirects followed?",
        f"a stretch with another mixture (G² over all stretches), by {percent(mixture.DIFFERENCE)} of its "
        f"responses or more; or more than {percent(statuses.MOSTLY)} redirects that were neither followed "
        "nor named as right",
        NEVER,
    ),
    CheckDescription(
        "same responses",
        "Were right responses of the same kind in each round, and on each contestant?",
        f"a status whose share differs by {percent(mixture.DIFFERENCE)} or more (G²)",
        NEVER,
    ),
    CheckDescription(
        "rounds",
        "Do the medians of six rounds or more fall into two groups (Dixon)? That is a result.",
        NEVER,
        NEVER,
    ),
    CheckDescription("errors", "How many requests failed, how, and when? They are a result.", NEVER, NEVER),
    CheckDescription(
        "outage",
        "Did the server answer throughout?",
        "any stretch without a right response (throughput)",
        NEVER,
    ),
    CheckDescription(
        "warm-up",
        "Was the beginning slower than the rest (PELT)?",
        f"by {steady.SLOWER:g} times or more, for each figure that it changes by more than "
        f"{percent(steady.CHANGE)}",
        NEVER,
    ),
    CheckDescription(
        "invalid-if", "Does the plan call the trial invalid?", NEVER, "a condition of its `invalid-if` is met"
    ),
    CheckDescription("framing", "Did bytes follow a complete response?", "any", NEVER),
    CheckDescription("addresses", "Did all addresses of the host's name accept?", "any that did not", NEVER),
    CheckDescription(
        "responses",
        "Were there enough responses?",
        f"fewer than {checks.FEW_RESPONSES}, or more than {percent(checks.CUT_OFF_SUSPECT)} of the requests "
        "still waited at the end, except beside a background load",
        f"no request was sent; or all but {percent(failures.RIGHT_INVALID)} failed, timeouts not counted",
    ),
    CheckDescription(
        "generator CPU",
        "How busy was the generator's busiest thread?",
        f"more than {percent(checks.CPU_SUSPECT)} of a core",
        f"more than {percent(checks.CPU_INVALID)}",
    ),
    CheckDescription(
        "offered load",
        "Open loop: what share of the requests that were due was sent?",
        f"less than {percent(checks.SENT_SUSPECT)}",
        f"less than {percent(checks.SENT_INVALID)}, unless all connections waited for the server",
    ),
    CheckDescription(
        "generator core",
        "For what share of the time did the generator's threads wait for a core?",
        f"more than {percent(generator_core.SUSPECT_ABOVE)} (times); in a closed loop "
        f"{percent(machine.ALL)}, or {percent(bounded.UNBOUNDED)} of a time",
        NEVER,
    ),
    CheckDescription(
        "lateness",
        "By what share would any quantile be shorter, had every request been sent on time?",
        f"more than {percent(lateness.SUSPECT_ABOVE)}, for each quantile",
        f"more than {percent(lateness.INVALID_ABOVE)} of the median",
    ),
    CheckDescription(
        "wake-up",
        "How much of a time may be the generator's waking up, if it slept until responses came?",
        f"more than {percent(wake_up.SUSPECT_ABOVE)} of the median, for throughput of a closed loop; more "
        f"than {percent(wake_up.UNBOUNDED)}, for each quantile",
        NEVER,
    ),
    CheckDescription(
        "Little's law",
        "Do the time in flight and the sum of all response times agree?",
        f"more than {percent(checks.LITTLE_SUSPECT)} apart",
        NEVER,
    ),
    CheckDescription(
        "interactive law",
        "Closed loop: were all clients waiting or thinking all the time?",
        f"more than {percent(checks.INTERACTIVE_SUSPECT)} of their time unaccounted for",
        NEVER,
    ),
    CheckDescription(
        "cores",
        "Did server and generator have cores of their own?",
        f"shared, unless one client takes turns with the server and uses at most {percent(checks.TURNS_CPU)}",
        NEVER,
    ),
    CheckDescription(
        "background",
        "Did the background requests succeed?",
        f"more than {percent(checks.BACKGROUND_SUSPECT)} failed",
        "none was sent, or none answered as expected",
    ),
    CheckDescription(
        "arrivals",
        "Did requests follow the plan's Poisson process (Anderson and Darling)?",
        f"above {checks.ARRIVALS_FACTOR:g} times the critical value of 1 %",
        NEVER,
    ),
    CheckDescription(
        "steady state",
        "Did throughput and p99 settle (MSER-5), or in a short run the median (PELT)?",
        f"not settled, and the halves differ by more than {percent(steady.CHANGE)}, in a short run by "
        f"{percent(steady.SLOWER - 1)}",
        NEVER,
    ),
    CheckDescription(
        "clock resolution",
        "Is one microsecond a large part of the median response time?",
        f"more than {percent(checks.CLOCK_SUSPECT)}",
        NEVER,
    ),
    CheckDescription(
        "lost time",
        "Did the generator stop running, or was the machine suspended?",
        f"for {format_duration(lost_time.STILL_S)} or more",
        f"for more than {percent(lost_time.INVALID)} of the trial, in an open loop",
    ),
    CheckDescription(
        "machine",
        "While the server had work, for what share of the time did other processes use its cores?",
        f"more than {percent(machine.ALL)}; of longer times in an open loop "
        f"{percent(machine.SUSPECT_ABOVE)}, in a closed one {percent(bounded.UNBOUNDED)} of a time; if "
        f"others used {percent(kept_waiting.VISIBLE)} of these cores or more",
        f"more than {percent(machine.INVALID)}",
    ),
    CheckDescription(
        "steal",
        "Did the hypervisor withhold a core while requests were due?",
        "for enough requests that a quantile lies among them",
        NEVER,
    ),
    CheckDescription(
        "quota",
        "Did a CPU quota of this container or cgroup stop generator and server?",
        f"for more than {percent(quota.SUSPECT)} of the time; below that, the quantiles among its requests",
        NEVER,
    ),
    CheckDescription(
        "stopped",
        "Was some process of the server seen stopped (by a signal, a debugger)?",
        "in any sample, four times a second",
        NEVER,
    ),
    CheckDescription("wall clock", "Was the wall clock set?", NEVER, NEVER),
    CheckDescription(
        "open files",
        "Did the generator have open files left?",
        f"at least {percent(limits.FULL)} used, and connects failed",
        NEVER,
    ),
    CheckDescription(
        "local ports",
        "Did the generator have local ports left?",
        f"at least {percent(limits.FULL)} used, and connects failed",
        NEVER,
    ),
    CheckDescription(
        "memory limit", "Did the server have the memory limit that the plan asks for?", "it did not", NEVER
    ),
    CheckDescription(
        "generators",
        "Several generators: did all of them run to the end?",
        "any part of the load is missing",
        f"more than {percent(generator.MISSING_INVALID)} is missing",
    ),
    CheckDescription(
        "accounts", "Other machines: has everything they recorded arrived?", "anything is missing", NEVER
    ),
    CheckDescription(
        "same view",
        "Several generators: do they see the same service times?",
        f"a median {generator.DIFFERENT:g} times that of the others, "
        f"by {format_duration(generator.DIFFERENT_S)} or more",
        NEVER,
    ),
    CheckDescription(
        "start",
        "Several generators: did they start together?",
        f"more than {format_duration(generator.APART_SUSPECT_S)} apart",
        NEVER,
    ),
    CheckDescription(
        "record",
        "Was everything recorded?",
        "rows were lost",
        "a thread of the generator died",
    ),
]
