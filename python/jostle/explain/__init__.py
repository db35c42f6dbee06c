"""How a server behaves, and why: inferred from outside, from the times at which it answers given requests."""

from jostle._callable import callable_as

__all__: list[str] = []

callable_as(__name__, "jostle.explain.run", "explain")
