"""The description of all routes for programs: OpenAPI 3.1, made from the table of routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strod import __version__
from strod.explorer import shapes
from strod.explorer.about import KINDS
from strod.explorer.parameters import body_schema, schema_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strod.explorer.parameters import Parameter
    from strod.explorer.routes import Route

__all__ = ["described"]

_ERRORS = {
    400: "A parameter is wrong.",
    401: "The token is missing or wrong.",
    403: "Not from here, or nothing may be changed.",
    404: "There is no such thing.",
    405: "Not by this method.",
    409: "Somebody else has changed the workspace since.",
    413: "Too large.",
    429: "Others are waiting already.",
    503: "Not now: another process is writing, or it takes too long.",
}


def described(routes: Sequence[Route]) -> dict[str, Any]:
    """The document."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "strod explore", "version": __version__},
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
    }


def _operation(route: Route) -> dict[str, Any]:
    steps = [_parameter(one, "path") for one in route.steps]
    query = [_parameter(one, "query") for one in route.query]
    name = route.path.removeprefix("/api/").partition("/")[0]
    told: dict[str, Any] = {
        "operationId": f"{route.method.lower()}_{name}",
        "summary": route.summary,
        "parameters": steps + query,
        "responses": _answers(route),
    }
    if route.body is not None:
        told["requestBody"] = {
            "required": bool(route.body),
            "content": {"application/json": {"schema": body_schema(route.body)}},
        }
    return told


def _parameter(one: Parameter, place: str) -> dict[str, Any]:
    return {
        "name": one.name,
        "in": place,
        "required": one.required,
        "description": one.about,
        "schema": schema_of(one),
    }


def _answers(route: Route) -> dict[str, Any]:
    """What may come back."""
    if route.shape is None:
        kinds = [kind.partition(";")[0] for _, kind in KINDS.values()]
        file = {kind: dict[str, Any]() for kind in kinds}
        good: dict[str, Any] = {"description": "The file.", "content": file}
    else:
        good = _answer("The answer.", route.shape)
    found = {"200": good}
    if any(one.name == "wait" for one in route.query):
        found["202"] = _answer("It is under way: ask for the job.", shapes.STARTED)
    for status, about in _ERRORS.items():
        shape = shapes.CONFLICT if status == 409 else shapes.ERROR
        found[str(status)] = _answer(about, shape)
    return found


def _answer(about: str, shape: Any) -> dict[str, Any]:
    schema = shapes.schema_of(shape)
    return {"description": about, "content": {"application/json": {"schema": schema}}}
