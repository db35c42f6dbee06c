"""curl commands, as copied from a browser or a document: what curl would send, as requests of a plan.

`jostle.plan.curl.translate` reads them; it is imported where there is one.
"""

from jostle.plan.curl.known import has_curl, is_curl

__all__ = ["has_curl", "is_curl"]
