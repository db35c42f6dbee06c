"""Whether this machine can measure: its limits, and the best figures it allows."""
