"""Whether this machine can do the work: its limits, and what it gives at best."""
