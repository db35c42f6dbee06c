"""The version of jostle, which every record contains. `pyproject.toml` says the same (a test checks it)."""

__all__ = ["__version__"]

__version__ = "0.1.0"
