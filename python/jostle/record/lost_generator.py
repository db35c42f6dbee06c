"""A generator that ended before its load did, in the outcome of its trial and in the journal."""

from typing import NotRequired

from typing_extensions import TypedDict

from jostle.record.values import Ns, Number, Text

__all__ = ["LostGenerator"]


class LostGenerator(TypedDict):
    """From `at_ns` on, its share is missing.

    `until_ns`: when the node `moved_to` took it over; None: nobody did.
    """

    generator: Number
    of: Number
    at_ns: Ns
    why: Text
    until_ns: NotRequired[Ns | None]
    moved_to: NotRequired[Text]
