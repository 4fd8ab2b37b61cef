"""SQL scripts (BEGIN … END): their simple statements, and those that Spark's grammar of scripts lacks.

Spark takes its own statements in a script. Others become EXECUTE IMMEDIATE with the statement's text.
Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-scripting
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from lakeward.quoting import quote_string
from lakeward.sql.construct import BEGINNING, Edit, apply_edits
from lakeward.sql.identifier_clause import IdentifierClause
from lakeward.sql.parameters import Marker, parameter_markers
from lakeward.sql.token_cursor import (
    Token,
    TokenCursor,
    Unmatched,
    creates_procedure,
    nesting_change,
    tokenize,
)

_LOOPS = ("WHILE", "FOR")
_CASES = ("IF", "ELSEIF", "WHEN")
# The next statement follows at once.
_OPENINGS = ("ELSE", "LOOP", "REPEAT")


def is_script(tokens: Sequence[Token]) -> bool:
    """Return whether the text is a compound statement, with a label or without."""
    return begins_block(TokenCursor(tokens)) and "END" in (token.word for token in tokens)


def begins_block(cursor: TokenCursor) -> bool:
    """Read BEGIN with its label, if it has one; return whether it came next."""
    _skip_label(cursor)
    return cursor.words("BEGIN")


def is_atomic(tokens: Sequence[Token]) -> bool:
    """Return whether a block is a transaction.

    >>> texts = ("BEGIN ATOMIC END", "a: begin atomic END", "BEGIN NOT ATOMIC END")
    >>> [is_atomic(tokenize(text)) for text in texts]
    [True, True, False]
    """
    cursor = TokenCursor(tokens)
    _skip_label(cursor)
    return cursor.words("BEGIN", "ATOMIC")


def without_atomic(text: str) -> str:
    """Return a script as Spark parses it: without ATOMIC, with blanks that keep the positions of errors.

    >>> without_atomic("BEGIN ATOMIC SELECT 1; END")
    'BEGIN        SELECT 1; END'
    """
    edits = [
        Edit(other.start, other.end, " " * len(other.text))
        for one, other in pairwise(tokenize(text) or ())
        if (one.word, other.word) == ("BEGIN", "ATOMIC")
    ]
    return apply_edits(text, edits)


def script_trigger(words: Sequence[str]) -> str:
    """Return the pattern of scripts with one of the words."""
    return BEGINNING + rf"(?:\S+\s*:\s*)?begin\b(?=.*\b(?:{'|'.join(sorted(words)).lower()})\b)"


def statements(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the simple statements of a script: all but blocks, loops, branches and declarations."""
    cursor = TokenCursor(tokens)
    while cursor.next is not None:
        begin = cursor.at
        if not _skip_head(cursor):
            _skip_body(cursor)
            _skip_to(cursor, ";")
            if cursor.at > begin:
                yield cursor.read(begin)
            cursor.words(";")


def _skip_head(cursor: TokenCursor) -> bool:
    """Read what comes before a statement: the beginning of a block, a condition, a declaration …"""
    if _skip_label(cursor) or cursor.words(";") or any(cursor.words(word) for word in _OPENINGS):
        return True
    if cursor.words("BEGIN"):
        cursor.words("NOT")
        cursor.words("ATOMIC")
        return True
    for words, end in ((_CASES, "THEN"), (_LOOPS, "DO"), (("UNTIL",), "END")):
        if any(cursor.words(word) for word in words):
            _skip_to(cursor, end)
            cursor.words(end)
            return True
    if cursor.words("CASE"):
        _skip_to(cursor, "WHEN")
        return True
    if cursor.words("END"):
        _skip_to(cursor, ";")
        return True
    return cursor.words("DECLARE") and _skip_declaration(cursor)


def _skip_label(cursor: TokenCursor) -> bool:
    ahead = cursor.ahead(2)
    is_label = len(ahead) == 2 and ahead[0].is_name and ahead[1].text == ":"
    cursor.at += 2 * is_label
    return is_label


def _skip_to(cursor: TokenCursor, word: str) -> None:
    """Read up to a word that is neither in parentheses nor in a CASE expression."""
    while cursor.next is not None and cursor.next.word != word:
        if cursor.next.word == "CASE":
            cursor.at += 1
            _skip_to(cursor, "END")
        if cursor.next is not None:
            _skip(cursor)


def _skip(cursor: TokenCursor) -> None:
    """Read the next token, or everything in parentheses if it opens them.

    One that no parenthesis closes is read alone: Spark reports the error, in the text with the other edits.
    """
    begin = cursor.at
    try:
        cursor.skip()
    except Unmatched:
        cursor.at = begin + 1


def _skip_body(cursor: TokenCursor) -> None:
    """Read the beginning of CREATE PROCEDURE up to the END of its body."""
    if creates_procedure(cursor.ahead(4)):
        _skip_to(cursor, "BEGIN")
        _skip_block(cursor)


def _skip_block(cursor: TokenCursor) -> None:
    """Read from BEGIN up to its END."""
    depth, before = 0, ""
    while cursor.next is not None and (depth or not before):
        word, following = cursor.next.word, "".join(token.word for token in cursor.ahead(2)[1:])
        depth += nesting_change(word, before, following)
        before = word
        cursor.at += 1


def _skip_declaration(cursor: TokenCursor) -> bool:
    """Read a declaration; of a handler, what comes before its statement."""
    if not (cursor.ahead(2)[-1:] and cursor.ahead(2)[-1].word == "HANDLER"):
        _skip_to(cursor, ";")
        return True
    cursor.at += 2
    cursor.words("FOR")
    _skip_condition(cursor)
    while cursor.words(","):
        _skip_condition(cursor)
    return True


def handlers(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield where the statements of the handlers of a script begin and end, outer ones before inner ones.

    A statement that is a block begins at its BEGIN, and ends after its END.
    """
    cursor = TokenCursor(tokens)
    for at, token in enumerate(tokens):
        if token.word != "HANDLER" or at < 2 or tokens[at - 2].word != "DECLARE":
            continue
        cursor.at = at - 1
        _skip_declaration(cursor)
        _skip_label(cursor)
        begin = cursor.at
        if cursor.word == "BEGIN":
            _skip_block(cursor)
        else:
            _skip_to(cursor, ";")
        yield begin, cursor.at


def declared_names(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the names of the variables, conditions … that a script declares, in lower case."""
    names: set[str] = set()
    cursor = TokenCursor(tokens)
    for at, token in enumerate(tokens):
        if token.word != "DECLARE":
            continue
        cursor.at = at + 1
        cursor.words("OR", "REPLACE")
        if not cursor.words("VARIABLE"):
            cursor.words("VAR")
        try:
            names.add(cursor.part().lower())
            while cursor.words(","):
                names.add(cursor.part().lower())
        except Unmatched:
            continue
    return frozenset(names)


def assigns_variable(tokens: Sequence[Token], declared: frozenset[str]) -> bool:
    """Return whether a statement is SET of a declared variable, which may be named as a parameter is."""
    cursor = TokenCursor(tokens)
    try:
        return cursor.words("SET") and cursor.part().lower() in declared and cursor.words("=")
    except Unmatched:
        # SET (a, b) = (SELECT …) is of variables, whatever their names: no parameter is set so.
        return False


def sets_time_zone(tokens: Sequence[Token]) -> bool:
    """Return whether a statement is SET TIME ZONE, which Spark's grammar of scripts lacks."""
    return [token.word for token in tokens[:3]] == ["SET", "TIME", "ZONE"]


def _skip_condition(cursor: TokenCursor) -> None:
    try:
        if cursor.words("SQLSTATE"):
            cursor.words("VALUE")
            cursor.string()
        elif not cursor.words("NOT", "FOUND"):
            cursor.name()
    except Unmatched:
        return


def execute_immediate(tokens: Sequence[Token], text: str, computed: Sequence[IdentifierClause]) -> str:
    """Return EXECUTE IMMEDIATE with the text of a statement.

    Args:
        tokens: The statement's tokens.
        text: The statement.
        computed: Its IDENTIFIER clauses: their expressions may name variables of the script, which the
            statement does not see.
    """
    parts: list[str] = []
    at = 0
    for clause in computed:
        name = f"replace(replace(({clause.expression}), '\\\\', '\\\\\\\\'), '\\'', '\\\\\\'')"
        parts += [quote_string(f"{text[at : clause.start]}IDENTIFIER('"), name, quote_string("')")]
        at = clause.end
    if text[at:]:
        parts.append(quote_string(text[at:]))
    markers = [each for each in parameter_markers(tokens) if not _is_inside(each, computed)]
    named = dict.fromkeys(f":{marker.name} AS {marker.name}" for marker in markers if marker.name)
    values = ", ".join(named or ("?" for _ in markers))
    return f"EXECUTE IMMEDIATE {' || '.join(parts)}" + (f" USING {values}" if values else "")


def _is_inside(marker: Marker, clauses: Sequence[IdentifierClause]) -> bool:
    return any(clause.start <= marker.start and marker.end <= clause.end for clause in clauses)
