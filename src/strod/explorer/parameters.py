"""What a request may carry: each parameter is declared once, checked and described from that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strod.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Parameter", "body_schema", "body_values", "query_values", "schema_of"]

LONG = 2000  # characters of an expression, a query or a note
MANY = 8  # values of a parameter that may be given several times
_INTEGER = re.compile(r"-?[0-9]{1,15}")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a request, in its address or in its body.

    Attributes
    ----------
    name : str
        As it is given.
    about : str
        What it says.
    kind : str
        ``string``, ``integer``, ``boolean`` or, in bodies, ``children`` (a number or ``"auto"``).
    required : bool
        Whether it must be there.
    default : object
        What it is if it is not given.
    least, most : int
        Limits of a number; of a text, of its characters.
    choices : tuple of str
        All it may be, if that is known.
    many : bool
        Whether it may be given several times; in a body, whether it is an array.
    """

    name: str
    about: str
    kind: str = "string"
    required: bool = False
    default: Any = None
    least: int = 0
    most: int = LONG
    choices: tuple[str, ...] = ()
    many: bool = False

    @property
    def empty(self) -> Any:
        """What it is if it is not given."""
        return [] if self.many else self.default


def schema_of(one: Parameter) -> dict[str, Any]:
    """A parameter as JSON Schema."""
    if one.many:
        least = {"minItems": 1} if one.required else {}
        return {"type": "array", "items": _single(one), "maxItems": MANY} | least
    return _single(one)


def _single(one: Parameter) -> dict[str, Any]:
    number = {"type": "integer", "minimum": one.least, "maximum": one.most}
    if one.kind == "integer":
        return number | ({} if one.default is None else {"default": one.default})
    if one.kind == "boolean":
        return {"type": "boolean", "default": bool(one.default)}
    if one.kind == "children":
        return {"anyOf": [number, {"const": "auto"}]}
    if one.choices:
        return {"type": "string", "enum": list(one.choices)}
    least = {"minLength": one.least} if one.least else {}
    return {"type": "string", "maxLength": one.most} | least


def body_schema(fields: Sequence[Parameter]) -> dict[str, Any]:
    """A body as JSON Schema."""
    return {
        "type": "object",
        "properties": {one.name: schema_of(one) | {"description": one.about} for one in fields},
        "required": [one.name for one in fields if one.required],
        "additionalProperties": False,
    }


def query_values(known: Sequence[Parameter], given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Values of the parameters of an address; what is not declared is refused."""
    texts: dict[str, list[str]] = {}
    for name, text in given:
        texts.setdefault(name, []).append(text)
    _refuse_unknown(known, texts)
    found = {}
    for one in known:
        some = [_parsed(one, text) for text in texts.get(one.name, ())]
        if len(some) > (MANY if one.many else 1):
            raise UsageError(f"`{one.name}`: is given too often")
        if one.required and not some:
            raise UsageError(f"`{one.name}`: is missing")
        found[one.name] = (some if one.many else some[0]) if some else one.empty
    return found


def body_values(known: Sequence[Parameter], given: object) -> dict[str, Any]:
    """Values of the fields of a body; what is not declared is refused."""
    if not isinstance(given, dict):
        raise UsageError("the body must be an object")
    _refuse_unknown(known, given)
    found = {}
    for one in known:
        if one.required and one.name not in given:
            raise UsageError(f"`{one.name}`: is missing")
        found[one.name] = _field(one, given[one.name]) if one.name in given else one.empty
    return found


def _refuse_unknown(known: Sequence[Parameter], given: Mapping[str, Any]) -> None:
    names = {one.name for one in known}
    for name in given:
        if name not in names:
            there = f"there are {', '.join(sorted(names))}" if names else "there are none"
            raise UsageError(f"{name[:50]}: no such parameter; {there}")


def _field(one: Parameter, value: Any) -> Any:
    """A field of a body."""
    if not one.many:
        return _checked(one, value)
    if not isinstance(value, list) or len(value) > MANY or (one.required and not value):
        raise UsageError(f"`{one.name}`: must be an array of {int(one.required)} to {MANY}")
    return [_checked(one, each) for each in value]


def _parsed(one: Parameter, text: str) -> Any:
    """A value as it stands in an address."""
    if one.kind == "integer":
        if not _INTEGER.fullmatch(text):
            raise UsageError(f"`{one.name}`: must be a whole number")
        return _checked(one, int(text))
    return _checked(one, text)


def _checked(one: Parameter, value: Any) -> Any:
    """A value of the right type and size."""
    if one.kind == "boolean":
        if not isinstance(value, bool):
            raise UsageError(f"`{one.name}`: must be true or false")
    elif one.kind == "integer" or (one.kind == "children" and value != "auto"):
        whole = isinstance(value, float) and value.is_integer()  # JSON has one kind of number
        value = int(value) if whole else value
        if type(value) is not int or not one.least <= value <= one.most:
            raise UsageError(f"`{one.name}`: must be a number from {one.least} to {one.most}")
    elif one.kind == "string":
        _check_text(one, value)
    return value


def _check_text(one: Parameter, value: Any) -> None:
    if not isinstance(value, str) or not one.least <= len(value) <= one.most:
        raise UsageError(f"`{one.name}`: must be a text of {one.least} to {one.most} characters")
    if one.choices and value not in one.choices:
        raise UsageError(f"`{one.name}`: must be one of {', '.join(one.choices)}")
