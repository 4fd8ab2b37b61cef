"""One request to the local workspace, and its failure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lakeward.dbutils import Environment

__all__ = ["Answer", "Call", "Failure", "missing"]


@dataclass(frozen=True)
class Call:
    """A request: `at` is what its path leads to (the rest behind the route), `data` its body."""

    environment: Environment
    at: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    data: bytes = b""

    @cached_property
    def body(self) -> dict[str, Any]:
        """The JSON body. Raises Failure for what is none."""
        try:
            body = json.loads(self.data or b"{}")
        except ValueError:
            raise Failure(400, "MALFORMED_REQUEST", "The body is not JSON.") from None
        if not isinstance(body, dict):
            raise Failure(400, "MALFORMED_REQUEST", "The body is not a JSON object.")
        return body

    def given(self, name: str) -> str:
        """A parameter of the query or the body. Raises Failure where it is missing."""
        value = self.query.get(name) or self.body.get(name)
        if not value:
            raise Failure(400, "INVALID_PARAMETER_VALUE", f"The parameter {name} is missing.")
        return str(value)

    def flag(self, name: str) -> bool:
        """A yes or no, no where it is missing."""
        return str(self.query.get(name, self.body.get(name, "false"))).lower() == "true"


@dataclass(frozen=True)
class Answer:
    """What comes back when it is not JSON: bytes and headers."""

    data: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Failure(Exception):
    """An error answer: status, the platform's error code, and a message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


def missing(what: str, code: str = "RESOURCE_DOES_NOT_EXIST") -> Failure:
    """The answer about something that does not exist."""
    return Failure(404, code, f"{what} does not exist.")
