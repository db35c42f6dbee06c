"""The type of the `golden` fixture (tests/conftest.py)."""

from collections.abc import Callable

Golden = Callable[[str, str], None]
"""golden("name.md", text) fails unless tests/golden/name.md holds the text."""
