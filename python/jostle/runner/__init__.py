"""Runs: which trials in which order, one trial after another, and what is left of one that was cut short."""
