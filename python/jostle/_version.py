"""The version of jostle, which every record carries; `pyproject.toml` says the same (tested)."""

__all__ = ["__version__"]

__version__ = "0.1.0"
