"""curl commands, as copied from a browser or a document: what curl would send, as requests of a plan."""

from jostle.plan.curl.command import is_curl
from jostle.plan.curl.text import has_curl
from jostle.plan.curl.translate import Pasted, pasted

__all__ = ["Pasted", "has_curl", "is_curl", "pasted"]
