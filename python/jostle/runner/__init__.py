"""Runs: the order of the trials, how each is carried out, and what is left of a run that was cut short."""
