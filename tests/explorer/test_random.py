"""Whatever the description allows, and what it does not: no failure, no answer of another shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.chance import drawn
from tests.explorer.conftest import TOKEN

if TYPE_CHECKING:
    from tests.explorer.conftest import Client

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
DAILY, LONG = 20, 620  # requests for each of the routes, in each mode
LEFT = ("/api/shutdown",)
HEADERS = {"authorization": f"Bearer {TOKEN}"}


def ask_at_random(client: Client, examples: int) -> int:
    """Ask every route, rightly and wrongly; how many requests that were."""
    asked = 0
    described = client.json("openapi.json")
    schema = schemathesis.openapi.from_dict(described)
    schema.config.base_url = str(client.base_url).rstrip("/")
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if operation.path in LEFT:
            continue
        for mode in GenerationMode:

            @settings(
                max_examples=drawn(examples), deadline=None, suppress_health_check=list(HealthCheck)
            )
            @given(operation.as_strategy(generation_mode=mode))
            def ask(case: schemathesis.Case[Any]) -> None:
                nonlocal asked
                asked += 1
                response = case.call(headers=HEADERS)
                case.validate_response(response, checks=CHECKS)

            ask()
    return asked


def test_random_requests(client: Client) -> None:
    assert ask_at_random(client, DAILY) >= 300


@pytest.mark.long
def test_many_random_requests(client: Client) -> None:
    assert ask_at_random(client, LONG) >= 10_000
