"""The settings in a label: the values they give the variants, and the canonical label for these values."""

from collections.abc import Mapping

from jostle.errors import PlanError, UnknownName
from jostle.plan.labels import split
from jostle.plan.servers.contestant import Variant, VariantValue

__all__ = ["as_text", "canonical", "read_settings"]

_TRUTH = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def read_settings(label: str, variants: Mapping[str, Variant]) -> dict[str, VariantValue]:
    """Every variant with its value: the default, or what the label says, converted to the default's type.

    Raises `UnknownName` for a variant that does not exist, `PlanError` for an impossible value.
    """
    values: dict[str, VariantValue] = {name: variant.default for name, variant in variants.items()}
    given: set[str] = set()
    for setting in filter(None, (part.strip() for part in split(label)[1].split(","))):
        name, equals, text = setting.partition("=")
        if name not in variants:
            raise UnknownName("variant", name, variants, of=split(label)[0])
        if name in given:
            raise PlanError(f"{label!r} gives {name!r} twice")
        given.add(name)
        values[name] = _typed(label, name, text if equals else None, variants[name].default)
    return values


def canonical(name: str, values: Mapping[str, VariantValue], variants: Mapping[str, Variant]) -> str:
    """The canonical label of a contestant: only what differs from the defaults, in the file's order."""
    settings = []
    for key, variant in variants.items():
        value = values[key]
        if value == variant.default:
            continue
        settings.append(key if value is True else f"{key}={as_text(value)}")
    return f"{name}:{','.join(settings)}" if settings else name


def as_text(value: VariantValue) -> str:
    """A variant's value as it is inserted into commands."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _typed(label: str, name: str, text: str | None, default: VariantValue) -> VariantValue:
    if isinstance(default, bool):
        if text is None:
            return True
        if text.lower() in _TRUTH:
            return _TRUTH[text.lower()]
        raise PlanError(f"{label!r}: {name!r} is on or off, not {text!r}")
    if not text:
        raise PlanError(f"{label!r}: {name!r} needs a value", f"for example {name}={default or 1}")
    if isinstance(default, str):
        return text
    try:
        value = type(default)(text)
    except ValueError:
        value = -1
    if not 0 <= value < 2**31:
        kind = "a whole number" if isinstance(default, int) else "a number"
        raise PlanError(
            f"{label!r}: {name!r} is {kind} from 0 on, not {text!r}", f"for example {name}={default or 1}"
        )
    return value
