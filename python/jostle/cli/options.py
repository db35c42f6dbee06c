"""Options that several commands share, as text and as values."""

from collections.abc import Iterable

from jostle.errors import PlanError

__all__ = ["split_contestants", "split_settings"]


def split_contestants(text: str | None) -> list[str] | None:
    """`"node,go:procs=1,max=2"` → `["node", "go:procs=1,max=2"]`.

    A comma separates contestants, except before `key=value`: that belongs to the contestant before it.
    """
    if text is None:
        return None
    labels: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if "=" in part and ":" not in part:
            if not labels or ":" not in labels[-1]:
                raise PlanError(
                    f"--contestants: {part!r} is a variant without a contestant",
                    "write it after a colon, e.g. node-cluster:workers=4,node",
                )
            labels[-1] += f",{part}"
        else:
            labels.append(part)
    if not labels:
        raise PlanError("--contestants names none", "for example: --contestants node,go")
    return labels


def split_settings(settings: Iterable[str] | None) -> dict[str, str]:
    """`["slow=41"]` → `{"slow": "41"}`."""
    values: dict[str, str] = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise PlanError(f"--set {setting!r} is not NAME=VALUE", "for example: --set slow=41")
        values[name.strip()] = value.strip()
    return values
