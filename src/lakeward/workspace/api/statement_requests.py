"""Requests to execute a statement, and the checks of their fields.

Source: https://docs.databricks.com/api/workspace/statementexecution
"""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.databricks_shims.local_workspace import invalid_parameter, missing
from lakeward.workspace.api.warehouses import require_warehouse
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document
from lakeward.workspace.warehouse.execution import StatementOrder

STATEMENT_BYTES = 16 * 2**20
"""The platform's limit of a statement's text."""

_DISPOSITIONS = ("INLINE", "EXTERNAL_LINKS", "INLINE_OR_EXTERNAL_LINKS")
_FORMATS = ("JSON_ARRAY", "ARROW_STREAM", "CSV")
_WAIT_SECONDS = (5, 50)


@dataclass(frozen=True)
class StatementRequest:
    """A checked request to execute a statement.

    `query_text` is what the history of queries shows, by default the statement.
    """

    order: StatementOrder
    wait: float
    cancel_on_timeout: bool
    warehouse_id: str
    query_text: str | None = None

    @classmethod
    def of(cls, call: ServerRequest) -> StatementRequest:
        """Check the body of a request. Raises ApiError."""
        body = call.body
        statement = _text(body, "statement", required=True)
        refuse_too_long(statement)
        warehouse = _text(body, "warehouse_id", required=True)
        require_warehouse(call, warehouse)
        disposition = _choice(body, "disposition", _DISPOSITIONS)
        if disposition == "INLINE_OR_EXTERNAL_LINKS":
            disposition = "EXTERNAL_LINKS"  # a result that is small may have links, too
        layout = _choice(body, "format", _FORMATS)
        if disposition == "INLINE" and layout != "JSON_ARRAY":
            raise invalid_parameter(
                "The format field must be JSON_ARRAY when the disposition field is INLINE."
            )
        order = StatementOrder(
            statement,
            session=_session(call),
            catalog=_text(body, "catalog"),
            schema=_text(body, "schema"),
            parameters=_parameters(body.get("parameters")),
            row_limit=_limit(body, "row_limit"),
            byte_limit=_limit(body, "byte_limit"),
            disposition=disposition,
            format=layout,
            native_intervals=True,
        )
        on_timeout = _choice(body, "on_wait_timeout", ("CONTINUE", "CANCEL"))
        wait = _seconds(_text(body, "wait_timeout") or "10s")
        return cls(order, wait, on_timeout == "CANCEL", warehouse)


def refuse_too_long(statement: str) -> None:
    """Raise ApiError for a statement that is longer than the platform's limit."""
    if len(statement.encode(errors="replace")) > STATEMENT_BYTES:
        raise invalid_parameter(f"The statement has more than {STATEMENT_BYTES} bytes.")


def _session(call: ServerRequest) -> str | None:
    """Return the session of a request, None without one. Raises ApiError for one that is not open."""
    key = _text(call.body, "session_id")
    if key and call.context.sessions.find(key, call.caller) is None:
        raise missing(f"The session {key}")
    return key or None


def _text(body: Document, name: str, *, required: bool = False) -> str:
    value = body.get(name)
    if value is None or value == "":
        if required:
            raise invalid_parameter(f"The {name} field is required.")
        return ""
    if not isinstance(value, str):
        raise invalid_parameter(f"The {name} field must be a string.")
    return value


def _choice(body: Document, name: str, choices: tuple[str, ...]) -> str:
    value = _text(body, name) or choices[0]
    if value not in choices:
        raise invalid_parameter(f"The {name} field must be one of {', '.join(choices)}, not {value!r:.100}.")
    return value


def _limit(body: Document, name: str) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, str) and value.isdecimal():
        value = int(value)  # 64-bit integers may be sent as strings
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**63:
        raise invalid_parameter(f"The {name} field must be a positive integer.")
    return value


def _parameters(value: object) -> list[Document]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise invalid_parameter("The parameters field must be a list.")
    if any(not isinstance(each, dict) for each in value):
        raise invalid_parameter("Each entry of the parameters field must be an object.")
    # The JDBC driver sends positions, in any order.
    by = "ordinal" if value and all(map(_has_position, value)) else "name"
    seen = set()
    for each in value:
        if by == "name" and (not isinstance(each.get("name"), str) or not each["name"]):
            raise invalid_parameter("Each entry of the parameters field must be an object with a name.")
        for field in ("value", "type"):
            if not isinstance(each.get(field), (str, type(None))):
                raise invalid_parameter(f"The {field} of the parameter {each[by]!r:.100} must be a string.")
        if each[by] in seen:
            raise invalid_parameter(f"The parameter {each[by]!r:.100} is given twice.")
        seen.add(each[by])
    if by == "ordinal":
        return sorted(({**each, "name": None} for each in value), key=lambda each: each["ordinal"])
    return value


def _has_position(parameter: Document) -> bool:
    ordinal = parameter.get("ordinal")
    return isinstance(ordinal, int) and not isinstance(ordinal, bool) and not parameter.get("name")


def _seconds(text: str) -> float:
    number = text.removesuffix("s")
    least, most = _WAIT_SECONDS
    if not (number.isascii() and number.isdecimal() and len(number) < 6) or not (
        int(number) == 0 or least <= int(number) <= most
    ):
        raise invalid_parameter(
            f"The wait_timeout field must be 0s (disables waiting) or between {least}s and {most}s, "
            f"not {text!r:.100}."
        )
    return float(number)
