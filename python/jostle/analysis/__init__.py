"""What a record says: pure functions from a run folder to figures with intervals and verdicts.

run        analyse(record) → RunResult, judge(trial) → Validity

In the order in which they may use one another, from the bottom:

results    the plain data that a report shows, and the rule by which an interval decides
stats      statistics on arrays and histograms
trials     what single trials measured, gathered once
validity   whether a trial can be trusted, check by check
summaries  one trial, and one workload on one contestant over all rounds
topics     what is concluded from one contestant's summaries: starvation, journeys, phases, …
metrics    every metric that a plan or an option may name
compare    contestants and runs against each other
judge      requirements, claims, published figures
run        all of it; history: the runs in a folder over time; earlier: what those of the same plan tell
"""
