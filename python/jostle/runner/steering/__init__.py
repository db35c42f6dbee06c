"""Changes the load of a run while it runs, or stops it: from another process, by its folder.

    from jostle.runner.steering import steer

    steer("runs/2026-11-29T20-28-00-hit", "rate=500/s")

The process that runs the load serves a socket in the run's folder (`channel`), and does it (`desk`).
"""

from jostle.runner.steering.acknowledgement import Acknowledgement
from jostle.runner.steering.desk import SteeringDesk
from jostle.runner.steering.steer import By, steer, steerable, stop

__all__ = ["Acknowledgement", "By", "SteeringDesk", "steer", "steerable", "stop"]
