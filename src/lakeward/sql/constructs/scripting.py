"""Statements of SQL scripts that Spark lacks.

Sources: https://docs.databricks.com/aws/en/sql/language-manual/control-flow/signal-stmt,
https://docs.databricks.com/aws/en/sql/language-manual/control-flow/resignal-stmt and
https://docs.databricks.com/aws/en/sql/language-manual/control-flow/get-diagnostics-stmt
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from lakeward.quoting import quote_string
from lakeward.sql.construct import Construct, Edit, in_area
from lakeward.sql.script import handlers
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched, unquote_token

# The function of the JVM that raises the error.
_CALL = "lakeward_signal"
_RAISED = "USER_RAISED_EXCEPTION"
_DEFAULT_STATE = "45000"
# Success, warnings and internal errors are not raised.
_SQL_STATE = re.compile(r"(?!00|01|XX)[A-Z0-9]{5}")


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
    if state is not None and not _SQL_STATE.fullmatch(state.upper()):
        text = quote_string(
            f"Invalid SQLSTATE value: '{state}'. SQLSTATE must be exactly 5 characters long and contain only "
            "A-Z and 0-9. SQLSTATE must not start with '00', '01', or 'XX'."
        )
        return [
            Edit(
                tokens[at].start, tokens[end - 1].end, f"SELECT {_CALL}('INVALID_SQLSTATE', '428B3', {text})"
            )
        ]
    # The value, if there is one, follows as it is.
    has_arguments = item == "MESSAGE_ARGUMENTS" or not (item or state)
    nothing = "" if item else ("map()" if has_arguments else "''")
    # A condition that the script does not declare has its own SQLSTATE, if it is one of Spark's.
    given = "" if has_arguments else f"{quote_string(state or '')}, "
    call = f"SELECT {_CALL}({quote_string(condition)}, {given}{nothing}"
    before_value = tokens[at + cursor.at].end
    return [
        Edit(tokens[at].start, before_value, f"{call} "),
        Edit(tokens[end - 1].end, tokens[end - 1].end, ")"),
    ]


def _declared_state(tokens: Sequence[Token], condition: str) -> str | None:
    """Return the SQLSTATE of `DECLARE condition CONDITION [FOR SQLSTATE '…']`; None for other conditions."""
    for at, (name, kind) in enumerate(pairwise(tokens)):
        if kind.word != "CONDITION" or not name.is_name or unquote_token(name.text).upper() != condition:
            continue
        cursor = TokenCursor(tokens[at + 2 :])
        if not cursor.words("FOR", "SQLSTATE"):
            return _DEFAULT_STATE
        cursor.words("VALUE")
        return cursor.string()
    return None


def _diagnostics(tokens: Sequence[Token]) -> list[Edit]:
    """Rewrite RESIGNAL and GET DIAGNOSTICS CONDITION in handlers.

    Each handler of such a script declares a variable with the number of the error before its own
    declarations, also one that does not use it, so that no other handler takes the error for its own. Lines
    stay as they are, since GET DIAGNOSTICS gives the line of an error.
    """
    bodies = list(handlers(tokens))
    edits: list[Edit] = []
    for body in bodies:
        inner = [each for each in bodies if body[0] < each[0] and each[1] <= body[1]]
        own = [at for at in range(*body) if not any(begin <= at < end for begin, end in inner)]
        edits += [edit for at in own for edit in _about_error(tokens, at)]
    return edits and edits + [edit for body in bodies for edit in _declare_error(tokens, *body)]


def _about_error(tokens: Sequence[Token], at: int) -> list[Edit]:
    """Return the edits of a statement about the error that begins at a token; none for other tokens."""
    cursor = TokenCursor(tokens)
    cursor.at = at
    if cursor.words("RESIGNAL"):
        is_statement = cursor.next is None or cursor.next.text == ";"
        call = f"SELECT {_RESIGNAL}({_ERROR})"
        return [Edit(tokens[at].start, tokens[at].end, call)] if is_statement else []
    if not cursor.words("GET", "DIAGNOSTICS", "CONDITION", "1"):
        return []
    edits = [Edit(token.start, token.end, "") for token in tokens[at + 1 : cursor.at]]
    edits.append(Edit(tokens[at].start, tokens[at].end, "SET"))
    try:
        while True:
            cursor.name(3)
            cursor.need("=")
            item = cursor.one_of(*_ITEMS)
            if not item:
                return []
            token = tokens[cursor.at - 1]
            edits.append(Edit(token.start, token.end, _ITEMS[item]))
            if not cursor.words(","):
                return edits
    except Unmatched:
        return []


def _declare_error(tokens: Sequence[Token], begin: int, end: int) -> list[Edit]:
    declare = f"DECLARE {_ERROR} BIGINT DEFAULT {_HANDLED}();"
    cursor = TokenCursor(tokens)
    cursor.at = begin
    if not cursor.words("BEGIN"):
        first, last = tokens[begin].start, tokens[end - 1].end
        return [Edit(first, first, f"BEGIN {declare} "), Edit(last, last, "; END")]
    cursor.words("NOT")
    cursor.words("ATOMIC")
    after = tokens[cursor.at - 1].end
    return [Edit(after, after, f" {declare}")]


# The variable with the number of the error, and the functions of the JVM that know the error.
_ERROR = "lakeward_error"
_HANDLED = "lakeward_handled"
_RESIGNAL = "lakeward_resignal"
_TEXTS = {
    item: f"lakeward_diagnostic({_ERROR}, '{item}')"
    for item in (
        "MESSAGE_TEXT",
        "RETURNED_SQLSTATE",
        "MESSAGE_ARGUMENTS",
        "CONDITION_IDENTIFIER",
        "LINE_NUMBER",
    )
}
_ITEMS = {
    **_TEXTS,
    "MESSAGE_ARGUMENTS": f"from_json({_TEXTS['MESSAGE_ARGUMENTS']}, 'MAP<STRING, STRING>')",
    "LINE_NUMBER": f"CAST({_TEXTS['LINE_NUMBER']} AS BIGINT)",
}


def _statement_diagnostics(tokens: Sequence[Token]) -> list[Edit]:
    """Rewrite GET DIAGNOSTICS … = ROW_COUNT and TRANSACTION_ACTIVE."""
    return [edit for at in range(len(tokens)) for edit in _diagnostics_at(tokens, at)]


def _diagnostics_at(tokens: Sequence[Token], at: int) -> list[Edit]:
    """Return the edits of a GET DIAGNOSTICS statement at a token, which then sets its variables.

    Returns no edits for other tokens, and for statements about a condition.
    """
    cursor = TokenCursor(tokens)
    cursor.at = at
    if not cursor.words("GET", "DIAGNOSTICS"):
        return []
    # By itself, SET without VARIABLE would change a setting; in scripts Spark does not parse VARIABLE.
    edits = [
        Edit(tokens[at].start, tokens[at].end, "SET"),
        Edit(tokens[at + 1].start, tokens[at + 1].end, "VARIABLE" if at == 0 else ""),
    ]
    try:
        while True:
            cursor.name(3)
            cursor.need("=")
            item = cursor.one_of("TRANSACTION_ACTIVE", "ROW_COUNT")
            token = tokens[cursor.at - 1]
            value = _TRANSACTION_ACTIVE if item == "TRANSACTION_ACTIVE" else _ROW_COUNT if at else _OUTSIDE
            edits.append(Edit(token.start, token.end, value))
            if not cursor.words(","):
                return edits
    except Unmatched:
        return []


# Functions of the JVM: whether the session has a transaction, and the rows of its last DML statement.
_TRANSACTION_ACTIVE = "lakeward_transaction_active()"
_ROW_COUNT = "lakeward_row_count()"
_OUTSIDE = (
    f"CAST({_CALL}('UNSUPPORTED_SQL', '0A000', "
    "'GET DIAGNOSTICS … = ROW_COUNT can be used in BEGIN … END only.') AS BIGINT)"
)

CONSTRUCTS = in_area(
    "Queries and scripts",
    Construct(
        name="RESIGNAL, GET DIAGNOSTICS CONDITION",
        verdict="rewritten",
        example="BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN RESIGNAL; END; SELECT 1; END",
        note="functions that know how the last statement of the session ended; with several threads in one "
        "session it may be that of another thread",
        edits=_diagnostics,
        test="tests/sql/test_diagnostics.py",
    ),
    Construct(
        name="GET DIAGNOSTICS TRANSACTION_ACTIVE, ROW_COUNT",
        verdict="rewritten",
        example="GET DIAGNOSTICS active = TRANSACTION_ACTIVE",
        note="ROW_COUNT, in scripts only, is "
        "num_affected_rows of the last INSERT, UPDATE, DELETE, MERGE or COPY INTO of the session, NULL for "
        "tables that are not Delta tables",
        edits=_statement_diagnostics,
        test="tests/sql/test_row_count.py",
    ),
    Construct(
        name="SIGNAL",
        verdict="rewritten",
        example="BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too late'; END",
        note="a SELECT of a function that raises the error",
        edits=_signals,
    ),
)
