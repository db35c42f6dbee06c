"""Labels of contestants, `name:key=value,flag`, and which of them a name means."""

from collections.abc import Iterable

__all__ = ["meant", "split"]


def split(label: str) -> tuple[str, str]:
    """Name and settings. The name may be a path: only a colon behind the last slash counts."""
    slash = label.rfind("/") + 1
    name, _, settings = label[slash:].partition(":")
    return label[:slash] + name, settings


def meant(name: str, labels: Iterable[str]) -> list[str]:
    """Those of `labels` that `name` means: the very one, or where it is not among them, its variants.

    "rails" is "rails" where there is one, however many variants stand beside it; else "rails:workers=1" and
    "rails:workers=4". Whatever names a contestant follows this rule: workloads, requirements, claims and
    figures of a plan, and `jostle history --contestants`.
    """
    known = list(dict.fromkeys(labels))
    return [name] if name in known else [label for label in known if split(label)[0] == name]
