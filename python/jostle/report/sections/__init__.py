"""The tables of a report that only some runs have."""
