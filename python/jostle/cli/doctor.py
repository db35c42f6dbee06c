"""`jostle doctor`: can this machine do it?"""

from typing import Annotated

import typer

__all__ = ["doctor"]

HELP = """Say what this machine can do, and what would stand in the way of a run.

\b
  jostle doctor            limits, ports, cores, timers, contestants
  jostle doctor --json     the same for machines
  jostle doctor --calibrate   measure the floor of this machine first: about 15 seconds; later runs show it

Exit code 1 when something would make runs fail.
"""


def doctor(
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Measure what a server that does nothing shows here, and keep it."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on standard output.")] = False,
) -> int:
    import json
    from dataclasses import asdict

    from jostle.doctor.checks import check_machine

    if calibrate:
        _calibrate()
    findings = check_machine()
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings]))
    else:
        marks = {"good": "✓", "note": "·", "bad": "✗"}
        width = max(len(finding.subject) for finding in findings)
        for finding in findings:
            print(f"{marks[finding.state]} {finding.subject:<{width}}  {finding.message}")
            if finding.remedy:
                print(f"  {'':<{width}}  → {finding.remedy}")
    return 1 if any(finding.state == "bad" for finding in findings) else 0


def _calibrate() -> None:
    import sys

    from jostle.cli.progress import observer_for
    from jostle.doctor.calibration import calibrate

    observer = observer_for(sys.stderr)
    try:
        calibrate(observer)
    finally:
        observer.close()
