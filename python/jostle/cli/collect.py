"""`jostle collect RUN`: fetch what is only in the spools of a cluster's generators."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.exit_codes import ExitCode
from jostle.record.layout import LedgerEntry

__all__ = ["collect"]

HELP = """Fetch results that generators of a cluster recorded but could not deliver.

\b
  jostle collect runs/2026-…
  jostle collect runs/2026-… --cluster 10.0.0.1:6379     the head has moved

Prints for every generator how many requests it streamed during the run, and how
many are only in its spool (the log on its own machine). Those are fetched into
the trial's folder, under generators/.
"""


def collect(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="HOST:PORT", help="The head (the run's own).")
    ] = None,
) -> int:
    from jostle.generator.cluster.ledger import collect as fetch
    from jostle.generator.cluster.ledger import read_ledger
    from jostle.plan.recorded import RecordedPlan
    from jostle.record import RunRecord

    record = RunRecord.open(folder)
    places = {trial.number: trial.folder / "generators" for trial in record.trials}
    open_accounts = [n for n, place in places.items() if not all(a["whole"] for a in read_ledger(place))]
    if open_accounts:
        address = cluster or RecordedPlan.parse(record.plan_text).cluster_address
        from jostle.generator.cluster.ray import RayTransport

        network = RayTransport(address)
        for number in open_accounts:
            fetch(network, places[number])
    missing = 0
    for number, place in places.items():
        for account in read_ledger(place):
            print(
                f"trial {number}, generator {account['generator']} on {account['host']}: {_account(account)}"
            )
            missing += not account["whole"]
    if not any(map(read_ledger, places.values())):
        print(f"{folder} used no generators on other machines", file=sys.stderr)
    return ExitCode.INVALID_RESULT if missing else ExitCode.DONE


def _account(account: LedgerEntry) -> str:
    streamed, only = account["streamed"], account["only_in_log"]
    if only is None:
        return f"{streamed['sent']:,} requests streamed; {account['why']}"
    total = streamed["sent"] + only["sent"]
    return f"{total:,} requests = {streamed['sent']:,} streamed + {only['sent']:,} in its spool only"
