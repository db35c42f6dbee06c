"""What is known of a run while it goes on: one state, folded from what is recorded, for all that show it.

    live = RunningTrial(trial)            # a trial whose description is on disk
    live.add(interval)                    # for each interval, as it was recorded
    state = live.state()                  # what a terminal or a page draws

Figures follow the rules of the analysis, so those of the last state are those of the report.
"""
