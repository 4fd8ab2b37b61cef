"""One request to the local workspace, and its failure."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lakeward.dbutils import Environment
from lakeward.whole_files import replacing

__all__ = ["Answer", "Call", "Failure", "missing"]


@dataclass(frozen=True)
class Call:
    """A request.

    `at` is what its path leads to (the rest behind the route, or what stands in the route's braces), `data`
    its body; of an upload that was received into a file, `received`. `user` is who asks, empty for the
    owner of the lakehouse, who may do everything.
    """

    environment: Environment
    at: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    data: bytes = b""
    received: Path | None = None
    user: str = ""

    @property
    def owner(self) -> str:
        """The owner of the lakehouse."""
        return self.environment.settings().user

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

    def number(self, name: str, default: int, *, most: int | None = None) -> int:
        """A whole number of the query or the body, not below zero. Raises Failure for anything else."""
        value = self.query.get(name, self.body.get(name, default))
        try:
            number = int(value)
        except (TypeError, ValueError):
            number = -1
        if number < 0 or (most is not None and number > most):
            raise Failure(400, "INVALID_PARAMETER_VALUE", f"{name} cannot be {value!r}.")
        return number

    def keep(self, place: Path, data: bytes | None = None) -> None:
        """Write `data`, else what was uploaded, to `place`: whole or, on a full disk, not at all."""
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(place) as aside:
            if data is None and self.received is not None:
                shutil.move(self.received, aside)
            else:
                aside.write_bytes(self.data if data is None else data)

    def flag(self, name: str) -> bool:
        """A yes or no, no where it is missing."""
        return str(self.query.get(name, self.body.get(name, "false"))).lower() == "true"


@dataclass(frozen=True)
class Answer:
    """What comes back when it is not JSON: bytes, or those of a file, and headers."""

    data: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None

    def content(self) -> bytes:
        """The bytes."""
        return self.data if self.file is None else self.file.read_bytes()


class Failure(Exception):
    """An error answer: status, the platform's error code, and a message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


def missing(what: str, code: str = "RESOURCE_DOES_NOT_EXIST") -> Failure:
    """The answer about something that does not exist."""
    return Failure(404, code, f"{what} does not exist.")
