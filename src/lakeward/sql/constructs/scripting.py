"""Statements of SQL scripts that Spark lacks.

Source: https://docs.databricks.com/aws/en/sql/language-manual/control-flow/signal-stmt
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lakeward.quoting import quote_string
from lakeward.sql.construct import Construct, Edit, Refusal
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched, unquoted

_AREA = "Queries and scripts"
# The function of the JVM that raises the error.
_CALL = "lakeward_signal"
_RAISED = "USER_RAISED_EXCEPTION"
_DEFAULT_STATE = "45000"


def _signals(tokens: Sequence[Token]) -> list[Edit]:
    """Rewrite each SIGNAL as a SELECT of a function that raises the error."""
    return [
        edit
        for at, (token, following) in enumerate(pairwise(tokens))
        if token.word == "SIGNAL" and following.is_name
        for edit in _signal(tokens, at)
    ]


def _signal(tokens: Sequence[Token], at: int) -> list[Edit]:
    end = next((i for i in range(at, len(tokens)) if tokens[i].text == ";"), len(tokens))
    cursor = TokenCursor(tokens[at + 1 : end])
    state: str | None = None
    try:
        if cursor.words("SQLSTATE"):
            cursor.words("VALUE")
            condition, state = _RAISED, cursor.string()
        else:
            condition = ".".join(cursor.name()).upper()
            state = _declared_state(tokens, condition)
        item = cursor.one_of("MESSAGE_TEXT", "MESSAGE_ARGUMENTS") if cursor.words("SET") else ""
        if item:
            cursor.need("=")
        else:
            cursor.end()
    except Unmatched:
        return []
    # The value, if there is one, follows as it is.
    has_arguments = item == "MESSAGE_ARGUMENTS" or not (item or state)
    nothing = "" if item else ("map()" if has_arguments else "''")
    given = "" if has_arguments else f"{quote_string(state or _DEFAULT_STATE)}, "
    call = f"SELECT {_CALL}({quote_string(condition)}, {given}{nothing}"
    before_value = tokens[at + cursor.at].end
    return [
        Edit(tokens[at].start, before_value, f"{call} "),
        Edit(tokens[end - 1].end, tokens[end - 1].end, ")"),
    ]


def _declared_state(tokens: Sequence[Token], condition: str) -> str | None:
    """Return the SQLSTATE of `DECLARE condition CONDITION [FOR SQLSTATE '…']`; None for other conditions."""
    for at, (name, kind) in enumerate(pairwise(tokens)):
        if kind.word != "CONDITION" or not name.is_name or unquoted(name.text).upper() != condition:
            continue
        cursor = TokenCursor(tokens[at + 2 :])
        if not cursor.words("FOR", "SQLSTATE"):
            return _DEFAULT_STATE
        cursor.words("VALUE")
        return cursor.string()
    return None


def _refuse(cursor: TokenCursor) -> Refusal:
    """Refuse scripts with statements about the error that a handler handles."""
    cursor.finish()
    words = [token.word for token in cursor.read(0)]
    name = "RESIGNAL" if "RESIGNAL" in words else "GET DIAGNOSTICS"
    if name not in words and ("GET", "DIAGNOSTICS") not in pairwise(words):
        raise Unmatched
    return Refusal("UNSUPPORTED_SQL", f"{name} is not supported here: {_NO_ERROR}", "0A000")


_NO_ERROR = (
    "Spark does not give the error to its handlers. Handle the conditions by name, and SIGNAL another one."
)

CONSTRUCTS = (
    Construct(
        name="RESIGNAL, GET DIAGNOSTICS",
        area=_AREA,
        verdict="unsupported",
        example="BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN RESIGNAL; END; SELECT 1; END",
        note=_NO_ERROR,
        starts=("BEGIN", "RESIGNAL", "GET"),
        statement=_refuse,
    ),
    Construct(
        name="SIGNAL",
        area=_AREA,
        verdict="rewritten",
        example="BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too late'; END",
        note="a SELECT of a function that raises the error",
        edits=_signals,
    ),
)
