"""The run folder: what a run leaves on disk, written as it happens and readable after any interruption.

runs/2026-11-21T18-52-34-starvation/
    plan.toml  host.json  journal.ndjson
    trials/007-node-fast-with-slow/
        trial.json  intervals.hlog  intervals.ndjson  server.ndjson  requests-00001.npz …  outcome.json
    cut-short/              stopped trials that were run again later (`jostle run --resume`): not counted
"""

from jostle.record.layout import FORMAT
from jostle.record.run import RunRecord
from jostle.record.trial import TrialRecord
from jostle.record.writer import RunWriter, TrialWriter, written

__all__ = ["FORMAT", "RunRecord", "RunWriter", "TrialRecord", "TrialWriter", "written"]
