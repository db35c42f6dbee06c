"""How a server behaves, and why: inferred from outside, from when it answers stated requests."""
