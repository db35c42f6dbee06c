"""A program that keeps a core busy for a share of the time, in bursts: python hog.py CORE SHARE [--first]

`--first`: it goes before all others (SCHED_FIFO), so that for as long as a burst lasts the core is gone, as
if a hypervisor had withheld it.
"""

import os
import sys
import time

PERIOD_S = 0.02

core, share = int(sys.argv[1]), float(sys.argv[2])
os.sched_setaffinity(0, {core})
if "--first" in sys.argv:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
while True:
    until = time.monotonic() + PERIOD_S * share
    while time.monotonic() < until:
        pass
    if share < 1:
        time.sleep(PERIOD_S * (1 - share))
