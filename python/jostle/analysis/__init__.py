"""What a record says: pure functions from a run folder to figures with intervals and verdicts.

run        analyse(record) → RunResult, judge(trial) → Validity
trial      what one trial measured, gathered once
validity   the checks
summaries  one workload on one contestant over all rounds; topics/starvation compares two of them
compare, judge, capacity, topics: what is concluded from them; results: the plain data that they return
stats, queueing: the statistics and the queueing models
"""
