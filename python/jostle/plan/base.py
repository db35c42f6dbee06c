"""The base class of all tables of a plan, and how pydantic's errors become one message."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from jostle.errors import BadValue, PlanError, nearest
from jostle.plan.values import shown

__all__ = ["Table", "in_own_words", "is_lenient"]


def is_lenient(info: ValidationInfo) -> bool:
    """Whether the table comes from a recorded plan, which another version may have written."""
    return bool((info.context or {}).get("lenient"))


def _key(field: str) -> str:
    return field.rstrip("_").replace("_", "-")


class Table(BaseModel):
    """A table of a plan: keys are the fields' names with dashes; unknown keys are refused."""

    model_config = ConfigDict(
        extra="forbid", strict=True, alias_generator=_key, arbitrary_types_allowed=True, defer_build=True
    )

    @classmethod
    def keys(cls) -> list[str]:
        """The keys that this table may have."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @classmethod
    def near(cls) -> list[str]:
        """The keys that may be suggested for a mistyped one."""
        return cls.keys()

    @classmethod
    def lenient(cls, data: Any) -> Self:
        """Read a table that another version of jostle may have written.

        Unknown keys are left out; unknown metrics are kept by name. Raises `PlanError`.
        """
        try:
            return cls.model_validate(data, context={"lenient": True})
        except ValidationError as error:
            raise in_own_words(error, data, "") from None

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any, info: ValidationInfo) -> Any:
        if isinstance(data, dict):
            known = {*cls.keys(), *(field.alias for field in cls.model_fields.values())}
            if is_lenient(info):
                return {key: value for key, value in data.items() if key in known}
            for key in sorted(data.keys() - known):
                raise BadValue(f"there is no key {key!r} here", nearest(key, cls.near()))
        return data

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out None (TOML has no null), and empty values of keys that are empty by default."""
        fields = {field.alias or name: field for name, field in type(self).model_fields.items()}

        def says_something(key: str, value: Any) -> bool:
            if value is None or value not in ("", [], {}):
                return value is not None
            default = fields[key].get_default(call_default_factory=True)
            return not (value == default or isinstance(default, Table))

        return self._shaped(
            {key: value for key, value in handler(self).items() if says_something(key, value)}
        )

    def _shaped(self, table: dict[str, Any]) -> dict[str, Any]:
        """The table as a plan writes it. Overridden if the model holds it in another form."""
        return table

    def data(self) -> dict[str, Any]:
        """The table as plain TOML data, with the defaults written out."""
        return self.model_dump(by_alias=True)


_SAYS = {
    "missing": ("is missing", ""),
    "string_type": ("{given} is not a text", 'write it in quotes: "…"'),
    "bool_type": ("{given} is neither true nor false", "write true or false, without quotes"),
    "int_type": ("{given} is not a whole number", "write for example 5"),
    "float_type": ("{given} is not a number", "write for example 0.5"),
    "list_type": ("{given} is not a list", "write it in brackets: […]"),
    "dict_type": ("{given} is not a table", "write { key = value }"),
    "model_type": ("{given} is not a table", "write { key = value }"),
    "int_from_float": ("{given} is not a whole number", "write for example 5"),
    "greater_than_equal": ("{given} is too small: at least {ge}", ""),
    "greater_than": ("{given} is too small: more than {gt}", ""),
    "less_than_equal": ("{given} is too large: at most {le}", ""),
    "less_than": ("{given} is too large: less than {lt}", ""),
    "too_short": ("{given} has too few entries: at least {min_length}", ""),
    "too_long": ("{given} has too many entries: at most {max_length}", ""),
    "string_too_short": ("{given} is too short: at least {min_length} characters", ""),
    "string_too_long": ("{given} is too long: at most {max_length} characters", ""),
}


def in_own_words(
    error: ValidationError, data: Any, origin: str, places: Mapping[str, str] | None = None
) -> PlanError:
    """One `PlanError` with all problems of `error`: where, what was given, what is allowed.

    `data` is what was validated; `places`: the caller's names for places in it.
    """
    messages: list[str] = []
    hints: list[str] = []
    for problem in error.errors(include_url=False):
        place = ".".join(_place(problem["loc"], data))
        says, hint = _one(dict(problem))
        where = [origin, (places or {}).get(place, place), says]
        messages.append(": ".join(part for part in where if part))
        hints.append(hint)
    return PlanError("\n".join(dict.fromkeys(messages)), "\n".join(dict.fromkeys(filter(None, hints))))


def _place(location: Sequence[int | str], data: Any) -> list[str]:
    """The keys that lead to `location` in the plan as written, without the parts that only the models add."""
    place: list[str] = []
    for part in location:
        if isinstance(part, int):
            if not isinstance(data, list):  # a single table in place of a list of them
                continue
            place.append(str(part + 1))
            data = data[part] if part < len(data) else None
        elif not part.startswith("("):
            place.append(part)
            data = data.get(part) if isinstance(data, dict) else None
    return place


def _whole(limit: Any) -> Any:
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit


def _one(problem: dict[str, Any]) -> tuple[str, str]:
    kind = problem["type"]
    if kind == "value_error":
        cause = problem["ctx"]["error"]
        return (cause.message, cause.hint) if isinstance(cause, PlanError) else (str(cause), "")
    if kind == "literal_error":
        return f"{shown(problem['input'])} is not one of them", f"allowed: {problem['ctx']['expected']}"
    if kind in _SAYS:
        says, hint = _SAYS[kind]
        limits = {name: _whole(limit) for name, limit in problem.get("ctx", {}).items()}
        return says.format(given=shown(problem["input"]), **limits), hint
    return f"{shown(problem['input'])}: {problem['msg']}", ""
