"""From one statement's text to what it says. Pure: no Spark, no files."""

from __future__ import annotations

from typing import Any, Literal

from lakeward.pipelines.elements import Replacement
from lakeward.pipelines.in_sql.changes import read_changes
from lakeward.pipelines.in_sql.clauses import QUERY, read_clauses
from lakeward.pipelines.in_sql.columns import as_ddl, read_columns
from lakeward.pipelines.in_sql.reading import Reader, dotted
from lakeward.pipelines.in_sql.statement import DatasetStatement, FlowStatement, Setting, Use
from lakeward.sql import Unmatched, tokenize

__all__ = ["CHANGES", "INSERTS", "KINDS", "Misread", "Statement", "read"]

Statement = DatasetStatement | FlowStatement | Setting | Use

_STREAMING = ("STREAMING TABLE", "STREAMING LIVE TABLE", "INCREMENTAL LIVE TABLE", "INCREMENTAL TABLE")
_VIEWS = ("LIVE VIEW", "STREAMING LIVE VIEW", "INCREMENTAL LIVE VIEW", "VIEW")
KINDS: dict[str, Literal["streaming_table", "materialized_view", "view"]] = {
    **dict.fromkeys(_STREAMING, "streaming_table"),
    **dict.fromkeys(("MATERIALIZED VIEW", "LIVE TABLE"), "materialized_view"),
    **dict.fromkeys(_VIEWS, "view"),
}
INSERTS = ("INSERT INTO ONCE", "INSERT ONCE INTO", "INSERT INTO")
REPLACES = ("REPLACE WHERE", "REPLACE USING")
CHANGES = ("AUTO CDC ONCE INTO", "AUTO CDC INTO ONCE", "AUTO CDC INTO", "APPLY CHANGES INTO")


class Misread(Exception):
    """The statement does not go on as it must at the character `offset`, where `found` stands.

    `is_other` says that it is a whole statement of another kind.
    """

    def __init__(self, offset: int, found: str, *, is_other: bool = False) -> None:
        super().__init__(found)
        self.offset, self.found, self.is_other = offset, found, is_other


def read(text: str) -> Statement:
    """What a statement of a pipeline's SQL file says. Raises Misread.

    >>> read("CREATE OR REFRESH MATERIALIZED VIEW m AS SELECT 1").query
    (41, 49)
    """
    tokens = tokenize(text)
    if tokens is None:
        raise Misread(len(text), "end of file")
    reader = Reader(tokens, text)
    try:
        return _statement(reader)
    except Unmatched:
        stopped = reader.stopped_at or reader.next
        if stopped is None:
            raise Misread(len(text.rstrip()), "end of statement") from None
        raise Misread(stopped.start, stopped.text, is_other=reader.at == 0) from None


def _statement(reader: Reader) -> Statement:
    if reader.words("SET"):
        return _setting(reader)
    if reader.words("USE"):
        return _use(reader)
    if reader.is_next(*INSERTS, *CHANGES):
        return _flow(reader, None, None)
    if reader.any_words("CREATE FLOW", "CREATE OR REPLACE FLOW", "CREATE OR REFRESH FLOW"):
        name = dotted(reader.name(3))
        comment = reader.string() if reader.words("COMMENT") else None
        reader.need("AS")
        return _flow(reader, name, comment)
    return _dataset(reader)


def _dataset(reader: Reader) -> DatasetStatement:
    start = reader.at
    reader.need("CREATE")
    reader.any_words("OR REFRESH", "OR REPLACE")
    private = reader.any_words("PRIVATE", "TEMPORARY", "TEMP") is not None
    spelling = reader.any_words(*KINDS)
    if spelling is None:
        reader.at = start
        raise Unmatched
    kind = KINDS[spelling]
    reader.words("IF", "NOT", "EXISTS")
    name = dotted(reader.name(3))
    columns, rules = read_columns(reader) if reader.is_next("(") else ((), ())
    options, without_effect = read_clauses(reader)
    if kind != "view" and private:
        options["private"] = True
    if kind == "view" and spelling == "VIEW" and not private:
        without_effect = (*without_effect, "CREATE VIEW")
    if any(column.mask for column in columns) and as_ddl(columns) is None:
        without_effect = (*without_effect, "MASK")
    query, changes, replaces = None, None, None
    if reader.words("FLOW"):
        if reader.any_words("INSERT BY NAME", "INSERT") or reader.is_next(*REPLACES):
            replaces = _replacement(reader)
            query = reader.rest()
        else:
            reader.one_of("AUTO", "APPLY")
            reader.one_of("CDC", "CHANGES")
            changes = read_changes(reader, name, once=reader.words("ONCE"))
    elif reader.words("AS") or reader.is_next(*QUERY):
        query = reader.rest()
    elif kind != "streaming_table":
        raise Unmatched
    return DatasetStatement(
        kind, name, columns, rules, options, query, changes, without_effect, replaces=replaces
    )


def _flow(reader: Reader, name: str | None, comment: str | None) -> FlowStatement:
    insert = reader.any_words(*INSERTS)
    if insert is not None:
        reader.words("TABLE")
        target = dotted(reader.name(3))
        reader.words("BY", "NAME")
        replaces = _replacement(reader)
        return FlowStatement(target, name, comment, "ONCE" in insert, query=reader.rest(), replaces=replaces)
    apply = reader.any_words(*CHANGES)
    if apply is None:
        raise Unmatched
    target = dotted(reader.name(3))
    changes = read_changes(reader, target, once="ONCE" in apply)
    return FlowStatement(target, name, comment, changes.once, changes=changes)


def _replacement(reader: Reader) -> Replacement | None:
    """REPLACE WHERE condition, REPLACE USING (keys) SEQUENCE BY column, or neither."""
    found = None
    if reader.words("REPLACE", "WHERE"):
        found = Replacement(where=reader.until("BY NAME", *QUERY))
    elif reader.words("REPLACE", "USING"):
        keys = tuple(reader.names())
        reader.need("SEQUENCE", "BY")
        found = Replacement(keys, sequence_by=reader.until("BY NAME", *QUERY))
    reader.words("BY", "NAME")
    return found


def _setting(reader: Reader) -> Setting:
    # Keys may hold any word; the value goes on to the end and may be quoted.
    key = "".join(reader.until("=").split()).replace("`", "")
    if not reader.words("="):
        return Setting(key, None)
    if reader.next is None:
        return Setting(key, "")
    if reader.next.is_string:
        value = reader.string()
        reader.end()
        return Setting(key, value)
    begin, end = reader.rest()
    return Setting(key, reader.whole[begin:end].strip())


def _use(reader: Reader) -> Use:
    if reader.words("CATALOG"):
        catalog = _one(reader)
        return Use(catalog=catalog)
    reader.any_words("SCHEMA", "DATABASE")
    parts: Any = [reader.string()] if reader.next is not None and reader.next.is_string else reader.name(2)
    reader.end()
    return Use(*parts) if len(parts) == 2 else Use(schema=parts[0])


def _one(reader: Reader) -> str:
    value = reader.string() if reader.next is not None and reader.next.is_string else reader.part()
    reader.end()
    return value
