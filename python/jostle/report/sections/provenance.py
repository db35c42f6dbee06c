"""Where the figures come from: the machine, the versions, the plan, and the command that makes them again."""

from jostle.analysis.results import RunResult
from jostle.formatting import amount
from jostle.report.document import Depth, Paragraph, Preformatted, Section, Table, columns
from jostle.report.workload import moment
from jostle.text import one_line

__all__ = ["again", "facts", "host", "machine"]


def facts(result: RunResult) -> list[str]:
    """When, where, with what, in one line."""
    host = result.host
    cores = host.get("cores")
    return [
        moment(result.started),
        f"{len(result.trials)} trial{'' if len(result.trials) == 1 else 's'}",
        ", ".join(filter(None, [str(host.get("cpu_model", "")), f"{cores} cores" if cores else ""])),
        str(host.get("kernel", "")),
        f"jostle {host.get('jostle', '')}".strip(),
    ]


def machine(result: RunResult) -> Section:
    """Every fact of the machine, the versions and the servers."""
    return Section("Host", [host(result)], Depth.DETAIL, key="host", folded=True)


def host(result: RunResult) -> Table:
    """One fact per row."""
    table = Table("Host, versions and servers", columns("fact | value"), prose=True)
    for key, value in result.host.items():
        if key.endswith("_bytes") and isinstance(value, int | float):
            table.add(key.removesuffix("_bytes").replace("_", " "), amount(value, "bytes"))
        elif key not in ("format", "seed", "floor"):  # the floor stands among the notes
            table.add(key.replace("_", " "), _plain(value))
    for label, about in result.contestants.items():
        table.add(f"contestant {label}", _plain({k: v for k, v in about.items() if v}))
    table.add("seed", str(result.seed))
    return table


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{str(k).replace('_', ' ')}: {_plain(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return " ".join(_plain(v) for v in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def again(result: RunResult) -> Section:
    """The command, and the plan as it ran."""
    plan = Section(
        "The plan as it ran", [Preformatted.of("plan", result.plan_text)], Depth.DETAIL, folded=True
    )
    command = Preformatted("command", (one_line(result.rerun),))
    record = Section("", [Paragraph(f"Record: {result.folder}", small=True)], Depth.DETAIL)
    return Section("Run it again", [command, plan, record], Depth.MAIN, key="rerun")
