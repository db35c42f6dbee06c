"""Why a capacity may not be what it seems: the server went away, or gave other responses under load."""

from jostle.analysis.trials.statuses import contrast, statuses_of
from jostle.capacity.recorded import RecordedSearch

__all__ = ["other_responses", "went_away"]


def went_away(search: RecordedSearch) -> str:
    """Since when the server was not there any more, as a clause; "" if it was there to the end."""
    blocks = sorted((block for level in search.levels for block in level.blocks), key=lambda one: one.trial)
    if not blocks or not blocks[-1].away:
        return ""
    before = [block for block in blocks if not block.away]
    since = f"since the level of {search.shown(before[-1].level)}" if before else "from the first level on"
    return f"the server no longer accepts connections {since}: {blocks[-1].away}"


def other_responses(search: RecordedSearch) -> str:
    """From which level on right responses were of another kind than those to one request at a time; "" if
    they never were.
    """
    if search.alone is None or not search.alone.recorded:
        return ""
    alone = statuses_of([search.alone])
    for level in search.levels:
        statuses = statuses_of([block.data for block in level.counted if block.data is not None])
        places = f"at {search.shown(level.level)}", "to one request at a time"
        if unlike := contrast(statuses, alone, places):
            return f"from {search.shown(level.level)} on, right responses were not the same: {unlike}"
    return ""
