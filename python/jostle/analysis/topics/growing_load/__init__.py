"""Clients whose number grows or changes within a run."""
