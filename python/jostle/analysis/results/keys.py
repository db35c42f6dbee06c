"""What results are sorted by."""

__all__ = ["Key"]

Key = tuple[str, str]
"""Contestant and workload."""
