"""Requests to the local workspace and their responses."""

from __future__ import annotations

import base64
import binascii
import re
import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, TypeVar

from lakeward.atomic_files import atomic_replace
from lakeward.databricks_shims.local_workspace.api_error import ApiError, invalid_parameter
from lakeward.databricks_shims.local_workspace.body import parse_body
from lakeward.databricks_shims.local_workspace.object_descriptions import read_description
from lakeward.dbutils import Environment

MAX_INTEGER = 2**63 - 1
_SURROGATE = re.compile("[\ud800-\udfff]")
_EXCLUSIVE = threading.RLock()
_REPLACING = threading.Lock()
_Request = TypeVar("_Request", bound="ApiRequest")


def exclusively(handler: Callable[[_Request], Any]) -> Callable[[_Request], Any]:
    """Make a handler that reads, decides and writes run alone among all such handlers.

    Without it, two clients that change one list at the same time read the same list, and the change of the
    one that writes first is lost, though its request was answered with 200.
    """

    @wraps(handler)
    def run(call: _Request) -> Any:
        with _EXCLUSIVE:
            return handler(call)

    return run


@dataclass(frozen=True)
class ApiRequest:
    """A request.

    Attributes:
        environment: Settings, paths and secrets of the target.
        path_parameter: The part of the path that matches the route's `*` or `{}`; several joined by `/`.
        query: Parameters of the query.
        data: The body.
        received: The file that holds the body of an upload.
        user: The caller, "" for the owner of the lakehouse, who has all permissions.
    """

    environment: Environment
    path_parameter: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    data: bytes = b""
    received: Path | None = None
    user: str = ""

    @property
    def owner(self) -> str:
        """Return the owner of the lakehouse."""
        return self.environment.settings().user

    def description(self, full_name: str) -> Mapping[str, Any]:
        """Return comment, owner and properties of an object of Unity Catalog, as far as it has them."""
        return read_description(self.environment.settings().warehouse, full_name)

    @cached_property
    def body(self) -> dict[str, Any]:
        """Return the JSON body. Raises ApiError for invalid JSON and for fields of the wrong type."""
        return parse_body(self.data)

    def required(self, name: str) -> str:
        """Return a parameter of the query or the body. Raises ApiError where it is missing or not a text."""
        value = self.text(name)
        if not value:
            raise invalid_parameter(f"The parameter {name} is missing.")
        return value

    def text(self, name: str, default: str = "") -> str:
        """Return a text of the query or the body; numbers count. Raises ApiError for anything else."""
        value = self._value(name, default)
        if isinstance(value, (dict, list, bool)):
            raise self._wrong(name, "a string", value)
        return str(value)

    def number(self, name: str, default: int, *, least: int = 0, most: int = MAX_INTEGER) -> int:
        """Return a whole number from `least` to `most`. Raises ApiError for anything else."""
        value = self._value(name, default)
        try:
            number = None if isinstance(value, bool) else int(value)
        except (TypeError, ValueError):
            number = None
        if number is None or not least <= number <= most:
            raise invalid_parameter(f"{name} cannot be {str(value)[:100]!r}.")
        return number

    def flag(self, name: str) -> bool:
        """Return a yes or no, no where it is missing. Raises ApiError for anything else."""
        value = str(self._value(name, False)).lower()
        if value not in ("true", "false", ""):
            raise self._wrong(name, "true or false", value)
        return value == "true"

    def mapping(self, name: str) -> dict[str, Any]:
        """Return an object of the body, empty where it is missing. Raises ApiError for anything else."""
        value = self.body.get(name)
        if value is not None and not isinstance(value, dict):
            raise self._wrong(name, "an object", value)
        return value or {}

    def items(self, name: str) -> list[Any]:
        """Return a list of the body, empty where it is missing. Raises ApiError for anything else."""
        value = self.body.get(name)
        if value is not None and not isinstance(value, list):
            raise self._wrong(name, "a list", value)
        return value or []

    def _value(self, name: str, default: Any) -> Any:
        value = self.query.get(name) or self.body.get(name)
        return default if value is None else value

    @staticmethod
    def _wrong(name: str, wanted: str, value: Any) -> ApiError:
        return invalid_parameter(f"{name} must be {wanted}, not {str(value)[:100]!r}.")

    def keep(
        self, place: Path, content: bytes | Path | None = None, *, conflict: ApiError | None = None
    ) -> None:
        """Write `content`, else what was uploaded, to `place`: whole or, on a full disk, not at all.

        Args:
            place: The file to write; its parent directories are created.
            content: The bytes, or a file that is moved; default: the body of the request.
            conflict: Raised if the file exists when its content is complete; None replaces the file. Of
                several clients that create one file (a deployment's lock), one succeeds.
        """
        place.parent.mkdir(parents=True, exist_ok=True)
        given = (self.received or self.data) if content is None else content
        with ExitStack() as held, atomic_replace(place) as aside:
            if isinstance(given, Path):
                shutil.move(given, aside)
            else:
                aside.write_bytes(given)
            if conflict is not None:
                # Released after the replacement, at the end of the block.
                held.enter_context(_REPLACING)
                if place.exists():
                    raise conflict


@dataclass(frozen=True)
class ApiResponse:
    """A response that is not JSON: bytes or the bytes of a file, and headers."""

    data: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None

    def content(self) -> bytes:
        """Return the bytes."""
        return self.data if self.file is None else self.file.read_bytes()


def decode_base64(text: Any, name: str) -> bytes:
    """Return the bytes of a field in base64, with or without line breaks. Raises ApiError for other text."""
    if isinstance(text, str):
        with suppress(binascii.Error, ValueError):
            return base64.b64decode("".join(text.split()), validate=True)
    raise invalid_parameter(f"{name} is not valid base64.")


def printable(answer: Any) -> Any:
    """Return a response with U+FFFD for bytes that are not UTF-8: file names can be any bytes."""
    if isinstance(answer, str):
        return answer if answer.isascii() else _SURROGATE.sub("\ufffd", answer)
    if isinstance(answer, dict):
        return {printable(name): printable(value) for name, value in answer.items()}
    return [printable(each) for each in answer] if isinstance(answer, (list, tuple)) else answer


_MOST_PARTS = 100


def request_fields(call: ApiRequest) -> dict[str, Any]:
    """Return the fields of the JSON body, or of a form with the content as a file."""
    if not call.data.startswith(b"--"):
        return call.body
    boundary = call.data.split(b"\r\n", 1)[0]
    fields: dict[str, Any] = {}
    parts = call.data.split(boundary, _MOST_PARTS + 1)
    if len(parts) > _MOST_PARTS:
        raise ApiError(400, "MALFORMED_REQUEST", f"The form has more than {_MOST_PARTS} parts.")
    for part in parts[1:-1]:
        head, _, value = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]+)"', head)
        if name:
            plain = value.removesuffix(b"\r\n")
            fields[name.group(1).decode()] = plain if b"filename=" in head else plain.decode()
    return fields
