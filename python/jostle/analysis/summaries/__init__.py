"""One trial, and one workload on one contestant over all its rounds, as figures with intervals."""
