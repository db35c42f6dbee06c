"""The journal of a run as its reader sees it: a sentence for each line that says something."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jostle.record.journal_line import JournalEntry
from jostle.record.steered import described
from jostle.text import one_line
from jostle.units import format_duration

__all__ = ["Event", "events_of"]


@dataclass(frozen=True)
class Event:
    """Something that happened in a run."""

    at_unix_ns: int
    text: str


def events_of(entries: Sequence[JournalEntry]) -> list[Event]:
    """In their order; what is planned, or only kept for the record, is left out."""
    return [Event(entry["at"], one_line(text)) for entry in entries for text in _texts(entry)]


def _texts(entry: JournalEntry) -> Iterator[str]:
    match entry["event"]:
        case "run started":
            yield "The run began"
        case "contestant skipped":
            where = f" of {entry['workload']}" if "workload" in entry else ""
            yield f"{entry['contestant']} is left out{where}: {entry['why']}"
        case "trial started":
            yield f"Trial {entry['number']} began"
        case "generator lost":
            moved = f"; {entry['moved_to']} took over" if entry.get("moved_to") else ""
            who = f"generator {entry['generator']} of {entry['of']}"
            yield f"Trial {entry['number']}: {who} was lost: {entry['why']}{moved}"
        case "load steered":
            made = entry["steered"]
            at = format_duration(made["at_ns"] / 1e9)
            yield f"Trial {entry['number']}: {described(made)} from {at} on, by {made['by']}"
            yield from made["unreached"]
        case "trial ended" | "trial failed" | "trial cut short":
            told = f"Trial {entry['number']} {entry['event'].removeprefix('trial ')}"
            said = entry.get("verdict") or entry.get("why")
            yield f"{told}: {said}" if said else told
        case "extra rounds planned" | "cell repeated":
            why = f": {entry['why']}" if entry.get("why") else ""
            yield f"Further rounds of {entry['contestant']}, {entry['workload']}{why}"
        case "run resumed":
            yield f"The run was taken up again, with {entry['left']} trials left"
        case "trial set aside":
            why = f": {entry['why']}" if entry.get("why") else ""
            yield f"Trial {entry['number']} is set aside, and measured again{why}"
        case "repeats given up":
            yield f"No more trials are repeated: {entry.get('why', '')}".removesuffix(": ")
        case "looked at":
            yield f"After round {entry['round']}: {entry['why']}"
        case "run waits":
            yield "The run waits while others have their turn"
        case "plan extended":
            yield "The plan has further workloads"
        case "run stopped":
            yield f"The run stopped: {entry.get('why', '')}".removesuffix(": ")
        case "run ended":
            yield "The run ended"
