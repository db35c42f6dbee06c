"""What a record says: pure functions from a run folder to figures with intervals and verdicts.

run        analyse(record) → RunResult, judge(trial) → Validity
facts      what one trial measured, gathered once
validity   the checks; steady and arrivals are two of them
cells      one workload on one contestant over all rounds; starvation compares two of them
quantiles, censoring, bootstrap, distribution, histograms: the statistics
"""
