"""How much load a server can carry: `search` chooses levels, `run` measures them, `response` reads them."""

from jostle._callable import callable_as

__all__: list[str] = []

callable_as(__name__, "jostle.capacity.find", "capacity")
