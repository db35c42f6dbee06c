"""The situations of the table: what is loaded, what is planted, and what a result may say of it."""

from dataclasses import dataclass, replace
from typing import Literal

from truth.verdict import plants
from truth.verdict.plants import Plant

Truth = Literal["undisturbed", "itself", "none"]
"""What the figures should have been: those of the same load without the plant; with the plant (it is the
server's own, so the figures stand: those of the other runs); or none, as the server has two states."""

GENERATOR = (
    *("generator core", "generator CPU", "lateness", "lost time"),
    *("interactive law", "arrivals", "offered load"),
)
ANYTIME = ("wake-up",)
"""It is a statement about how the generator waits, not about what happened."""


@dataclass(frozen=True)
class Situation:
    """One row. `may_say`: the checks that may speak up, all others are false diagnoses. `named`: a pattern of
    what the first three lines must say, if the server has a fault.
    """

    name: str
    load: str
    plant: Plant | None = None
    options: str = ""
    truth: Truth = "undisturbed"
    rounds: int = 3
    repeats: bool = False
    runs: int = 3
    named: str = ""
    may_say: tuple[str, ...] = ()
    ordinary: str = ""  # a command of the documents instead of a plan of `loads`

    @property
    def undisturbed(self) -> bool:
        return self.plant is None and not self.options and not self.ordinary


SERVER = ("machine", "steal")
QUOTA = ("quota", *SERVER, *GENERATOR)
REAL = ("node, closed", "go, open", "python, closed")
TRUE_LOADS = ("reference, closed", "reference, open", *REAL)

UNDISTURBED = [Situation("undisturbed", load, runs=5) for load in TRUE_LOADS] + [
    Situation("undisturbed", "reference, a connection for each request", rounds=1, runs=4),
    Situation("undisturbed", "reference, many connections", rounds=1, runs=4),
    Situation("undisturbed, one round", "reference, closed", rounds=1, runs=4),
    Situation("undisturbed, one round", "node, closed", rounds=1, runs=4),
]

HOGS = [
    Situation(
        f"{share:.0%} hog on the {core}'s core".replace("%", " %"),
        load,
        plants.hog(core, share),
        may_say=SERVER if core == "server" else GENERATOR,
    )
    for core, loads in (("server", REAL), ("generator", ("reference, open", "node, closed", "go, open")))
    for load in loads
    for share in (0.1, 0.5, 1.0)
]

ONE_ROUND = [
    Situation(
        f"100 % hog on the {core}'s core in one round of three",
        load,
        plants.hog(core, 1.0, round=2),
        repeats=True,
        may_say=SERVER if core == "server" else GENERATOR,
    )
    for core, load in (("server", "node, closed"), ("generator", "go, open"))
]

STOLEN = [
    Situation(
        "20 % of the server's core withheld (real-time hog)",
        "node, closed",
        plants.hog("server", 0.2, first=True),
        may_say=SERVER,
    ),
    Situation(
        "20 % of the server's core withheld (real-time hog)",
        "go, open",
        plants.hog("server", 0.2, first=True),
        may_say=SERVER,
    ),
    Situation("server stopped for 20 %", "node, closed", plants.stopped_server(0.2), may_say=("stopped",)),
    Situation("server stopped for 50 %", "go, open", plants.stopped_server(0.5), may_say=("stopped",)),
    Situation("quota of 1.2 cores", "node, closed", plants.quota(1.2), may_say=QUOTA),
    Situation("quota of 0.5 cores", "reference, open", plants.quota(0.5), may_say=QUOTA),
]

MACHINE = [
    Situation("memory pressure", "node, closed", plants.memory_pressure, may_say=(*SERVER, *GENERATOR)),
    Situation("memory pressure", "reference, open", plants.memory_pressure, may_say=(*SERVER, *GENERATOR)),
    Situation(
        "generator stopped for 0.3 s of 3",
        "reference, open",
        plants.stopped_generator(0.3),
        rounds=1,
        may_say=GENERATOR,
    ),
    Situation(
        "generator stopped for 0.3 s of 3",
        "node, closed",
        plants.stopped_generator(0.3),
        rounds=1,
        may_say=GENERATOR,
    ),
    Situation(
        "generator stopped for 1 s of 3",
        "reference, open",
        plants.stopped_generator(1.0),
        rounds=1,
        may_say=GENERATOR,
    ),
    Situation(
        "generator stopped for 2 s of 3",
        "node, closed",
        plants.stopped_generator(2.0),
        rounds=1,
        may_say=GENERATOR,
    ),
    Situation(
        "64 local ports",
        "reference, many connections",
        plants.few_ports,
        rounds=1,
        may_say=("local ports", "errors"),
    ),
    Situation(
        "100 open files",
        "reference, many connections",
        plants.few_files,
        rounds=1,
        may_say=("open files", "errors", "offered load"),
    ),
    Situation("wall clock set by an hour", "go, open", plants.clock_step(3600), may_say=("wall clock",)),
    Situation("wall clock set back by 10 s", "node, closed", plants.clock_step(-10), may_say=("wall clock",)),
]


def _fault(
    name: str, options: str, named: str, *may_say: str, truth: Truth = "itself", rounds: int = 1
) -> Situation:
    return Situation(name, "faulty", None, options, truth, rounds, runs=4, named=named, may_say=may_say)


FAULTS = [
    Situation("undisturbed", "faulty", truth="itself", rounds=1, runs=4),
    _fault("0.05 % errors", "--errors 2000", r"failed: .*× 503", "errors"),
    _fault("0.7 % errors", "--errors 143", r"0\.(69|7\d*) % failed: .*× 503", "errors"),
    _fault("5 % errors", "--errors 20", r"(4\.9\d*|5|5\.0\d*) % failed: .*× 503", "errors"),
    _fault("50 % errors", "--errors 2", r"(49\.\d+|50|50\.0\d*) % failed: .*× 503", "errors"),
    _fault("1 % resets", "--resets 100", r"failed: .*(reset|closed the connection before)", "errors"),
    _fault("dead for a tenth", "--dead 1.0 1.3", r"no response from .* to ", "outage", "errors"),
    _fault("dead for half", "--dead 1.0 2.5", r"no response from .* to ", "outage", "errors"),
    _fault("warm-up of a second", "--warm-up 1", r"warm-up: the first ", "warm-up", truth="none"),
    _fault("drift: twice as slow after 3 s", "--drift 3", r"no steady state", "steady state", truth="none"),
    _fault("bimodal rounds", "--modes MODES", r"two (groups|modes)", "rounds", truth="none", rounds=6),
    _fault(
        "302 to a login after a second",
        "--login-after 1",
        r"statuses of the right responses changed",
        "statuses",
        truth="none",
    ),
    _fault("302 to a login always", "--login-after 0", r"302: redirects", "statuses"),
]

ORDINARY = [
    Situation("hit, 10 clients", "", truth="itself", rounds=1, runs=5, ordinary="hit"),
    Situation("the tutorial's first plan", "", truth="itself", ordinary="tutorial"),
    Situation("the demo", "", truth="itself", runs=2, ordinary="demo"),
    Situation("the recipe for CI", "", truth="itself", ordinary="ci"),
]

SITUATIONS = [*UNDISTURBED, *HOGS, *ONE_ROUND, *STOLEN, *MACHINE, *FAULTS, *ORDINARY]

QUICK = [
    replace(s, runs=1)
    for s in SITUATIONS
    if (s.name, s.load)
    in {
        ("undisturbed", "node, closed"),
        ("100 % hog on the server's core", "node, closed"),
        ("generator stopped for 1 s of 3", "reference, open"),
        ("64 local ports", "reference, many connections"),
        ("5 % errors", "faulty"),
        ("dead for half", "faulty"),
        ("hit, 10 clients", ""),
    }
]
"""Enough to see that it works."""


def key_of(situation: Situation) -> str:
    """What tells a situation from all others."""
    return f"{situation.name}; {situation.load or situation.ordinary}"
