"""Every contestant of the roster, as its file describes it."""

from jostle import roster

__all__ = ["FILES"]

FILES = {name: roster.load(name)[0] for name in roster.names()}
