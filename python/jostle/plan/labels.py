"""Labels of contestants, `name:key=value,flag`, and which labels a name stands for."""

from collections.abc import Iterable

__all__ = ["resolve_label", "split"]


def split(label: str) -> tuple[str, str]:
    """Name and settings. The name may be a path, so only a colon after the last slash separates them."""
    slash = label.rfind("/") + 1
    name, _, settings = label[slash:].partition(":")
    return label[:slash] + name, settings


def resolve_label(name: str, labels: Iterable[str]) -> list[str]:
    """The labels that `name` stands for: itself if it is one of them, otherwise all variants of that name.

    "rails" means only "rails" if that label exists, whatever variants there are besides; otherwise it means
    "rails:workers=1" and "rails:workers=4". Everything that names a contestant follows this rule: workloads,
    requirements, claims and figures of a plan, and `jostle history --contestants`.
    """
    known = list(dict.fromkeys(labels))
    return [name] if name in known else [label for label in known if split(label)[0] == name]
