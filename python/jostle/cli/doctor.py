"""`jostle doctor`: whether this machine can measure."""

from typing import Annotated

import typer

from jostle.cli.exit_codes import ExitCode

__all__ = ["doctor"]

HELP = """Check whether this machine can measure: cores, limits, ports, timers.

\b
  jostle doctor
  jostle doctor --calibrate   first find the shortest response time that can be
                              measured here, with a server that answers at once
                              (20 seconds); later results are shown beside it

The exit code is 1 if something would make runs fail.
"""

MARKS = {"good": "✓", "note": "·", "bad": "✗"}
WIDTH = 80


def doctor(
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Measure the shortest response time that this machine can measure, and keep it.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> int:
    import json
    import textwrap
    from dataclasses import asdict

    from jostle.doctor.checks import check_machine

    if calibrate:
        _calibrate()
    findings = check_machine()
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        width = max(len(finding.subject) for finding in findings)
        lead = " " * (width + 4)
        for found in findings:
            first = f"{MARKS[found.state]} {found.subject:<{width}}  "
            print(textwrap.fill(found.message, WIDTH, initial_indent=first, subsequent_indent=lead))
            if found.remedy:
                print(
                    textwrap.fill(
                        found.remedy, WIDTH, initial_indent=f"{lead}→ ", subsequent_indent=f"{lead}  "
                    )
                )
    return ExitCode.FAILED if any(finding.state == "bad" for finding in findings) else ExitCode.DONE


def _calibrate() -> None:
    import sys

    from jostle.cli.display import Display
    from jostle.cli.progress import RunProgress
    from jostle.doctor.calibration import calibrate

    with Display(sys.stderr) as display:
        calibrate(RunProgress(display))
