"""Metric views: definitions of later versions, as the version that Spark reads.

Spark reads version 0.1, which has source, filter, dimensions and measures. Joins become columns of the
source, a struct for each joined table, and a measure that names another one gets its expression. Comments,
display names, synonyms, formats and materializations change no result and are left out.

Source: https://docs.databricks.com/aws/en/metric-views/yaml-ref
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lakeward.quoting import quote_if_needed, quote_name
from lakeward.sql.construct import BEGINNING, Construct, Edit, Edits, Refusal, in_area
from lakeward.sql.token_cursor import TokenCursor, Unmatched

_VERSIONS = ("0.1", "1.0", "1.1")
_FIELDS = frozenset(
    (
        *("version", "comment", "source", "filter", "joins", "fields", "dimensions", "measures"),
        "materialization",
    )
)
_COLUMN_FIELDS = frozenset(("name", "expr", "comment", "display_name", "synonyms", "format", "window"))
_QUERY = re.compile(r"\s*(select|with|from|values|table)\b|\s*\(", re.IGNORECASE)
_MEASURE = re.compile(r"\bmeasure\s*\(\s*(`(?:[^`]|``)+`|\w+)\s*\)", re.IGNORECASE)


class _InvalidError(Exception):
    """The definition is not that of a metric view that can be created here."""


def _create(cursor: TokenCursor) -> Edits | Refusal:
    cursor.need("CREATE")
    cursor.words("OR", "REPLACE")
    is_global = cursor.words("GLOBAL")
    is_temporary = cursor.words("TEMPORARY") or cursor.words("TEMP")
    cursor.need("VIEW")
    while not cursor.words("WITH", "METRICS"):
        cursor.skip()
    if is_temporary or is_global:
        return Refusal(
            "UNSUPPORTED_SQL",
            "A temporary metric view is not supported here: Spark has none. Create it in a schema, without "
            "TEMPORARY.",
            "0A000",
        )
    return _with_definition(cursor)


def _alter(cursor: TokenCursor) -> Edits | Refusal:
    """Replace the view: Spark has no statement that changes a metric view."""
    begin = cursor.next
    cursor.need("ALTER", "VIEW")
    start = cursor.at
    cursor.name(3)
    name, at = cursor.text(start), cursor.next
    result = _with_definition(cursor)
    if isinstance(result, Refusal) or begin is None or at is None:
        return result
    head = f"CREATE OR REPLACE VIEW {name} WITH METRICS LANGUAGE YAML "
    return Edits((Edit(begin.start, at.start, head), *result.edits))


def _with_definition(cursor: TokenCursor) -> Edits | Refusal:
    while not cursor.words("AS"):
        cursor.skip()
    body = cursor.next
    if body is None or body.dollar_quoted is None:
        raise Unmatched
    cursor.at += 1
    cursor.end()
    try:
        definition = _definition(body.dollar_quoted)
    except _InvalidError as error:
        return Refusal("INVALID_METRIC_VIEW_YAML", f"The definition of the metric view {error}", "42K0L")
    # JSON is YAML, and its texts need no indentation.
    text = json.dumps(definition, indent=1, ensure_ascii=False)
    return Edits((Edit(body.start, body.end, f"$$\n{text}\n$$"),))


def _definition(text: str) -> dict[str, Any]:
    """Return the definition in version 0.1 that has the results of the one in `text`."""
    given = _parsed(text)
    version = str(given.get("version", "1.1"))
    if version not in _VERSIONS:
        raise _InvalidError(
            f"has version {version}, which is not known here. Use one of {', '.join(_VERSIONS)}."
        )
    _require_known(given, _FIELDS, "the definition")
    if not isinstance(given.get("source"), str):
        raise _InvalidError("has no source. Name a table or write a query.")
    columns = _columns(given.get("fields", given.get("dimensions")), "fields")
    measures = _expanded(_columns(given.get("measures"), "measures"))
    source = given["source"].strip()
    joins = given.get("joins") or []
    if joins:
        source = _query("source", source, joins)
    found: dict[str, Any] = {"version": "0.1", "source": source}
    if given.get("filter") is not None:
        found["filter"] = str(given["filter"])
    return {**found, "dimensions": columns, "measures": measures}


def _parsed(text: str) -> Mapping[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        given = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise _InvalidError(f"is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(given, Mapping):
        raise _InvalidError("is not a mapping. Write version, source, dimensions and measures.")
    return given


def _require_known(given: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    unknown = [str(key) for key in given if key not in known]
    if unknown:
        raise _InvalidError(
            f"has fields that are not known here, in {where}: {', '.join(unknown)}. "
            f"Known are {', '.join(sorted(known))}."
        )


def _columns(given: Any, what: str) -> list[dict[str, str]]:
    columns = []
    for column in given or []:
        if not isinstance(column, Mapping) or not {"name", "expr"} <= set(column):
            raise _InvalidError(f"has {what} without name and expr: {column}.")
        _require_known(column, _COLUMN_FIELDS, f"{what} `{column['name']}`")
        if column.get("window"):
            raise _InvalidError(
                f"has the measure `{column['name']}` with a window, which Spark's metric views lack. "
                "Compute it in a query over the view."
            )
        columns.append({"name": str(column["name"]), "expr": str(column["expr"])})
    return columns


def _expanded(measures: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the measures, in which `MEASURE(name)` of another one is replaced by its expression."""
    expressions = {each["name"].lower(): each["expr"] for each in measures}

    def expand(expression: str, above: tuple[str, ...]) -> str:
        def replaced(match: re.Match[str]) -> str:
            name = match[1].strip("`").replace("``", "`").lower()
            if name in above:
                raise _InvalidError(f"has measures that name each other: {' -> '.join([*above, name])}.")
            if name not in expressions:
                return match[0]
            return f"({expand(expressions[name], (*above, name))})"

        return _MEASURE.sub(replaced, expression)

    return [{**each, "expr": expand(each["expr"], (each["name"].lower(),))} for each in measures]


def _query(alias: str, source: str, joins: Sequence[Mapping[str, Any]]) -> str:
    """Return the query of a source with its own columns and those of its joins."""
    columns = f"{quote_name([alias])}.*, {_structs(alias, joins)}"
    return f"SELECT {columns} FROM {_from(alias, source, joins)}"  # noqa: S608  # the user's own SQL


def _structs(alias: str, joins: Sequence[Mapping[str, Any]]) -> str:
    """Return the columns that hold the rows of `alias` and of its joins, by their names."""
    names = [str(join.get("name")) for join in joins]
    own = [f"struct(`{alias}`.*) AS `{alias}`"] if alias == "source" else []
    return ", ".join([*own, *(f"struct({quote_name([name])}.*) AS {quote_name([name])}" for name in names)])


def _from(alias: str, source: str, joins: Sequence[Mapping[str, Any]]) -> str:
    """Return the relation of a source and its joins; a join with joins of its own is a query."""
    text = f"{_relation(source)} AS {quote_name([alias])}"
    for join in joins:
        if not {"name", "source"} <= set(join):
            raise _InvalidError(f"has a join without name and source: {join}.")
        name, inner = str(join["name"]), join.get("joins") or []
        target = str(join["source"]).strip()
        if inner:
            target = _query(name, target, inner)
        text += f" LEFT JOIN {_relation(target)} AS {quote_name([name])} {_condition(join)}"
    return text


def _relation(source: str) -> str:
    return f"({source.rstrip(';')})" if _QUERY.match(source) else source


def _condition(join: Mapping[str, Any]) -> str:
    if join.get("on") is not None:
        return f"ON {join['on']}"
    if join.get("using"):
        names = ", ".join(map(quote_if_needed, join["using"]))
        return f"USING ({names})"
    raise _InvalidError(f"has the join `{join['name']}` without on and using. Write one of them.")


def _construct(name: str, start: str, trigger: str, example: str, parse: Callable[..., Any]) -> Construct:
    return Construct(
        name=name,
        verdict="rewritten",
        example=example,
        note="versions 0.1 to 1.1 with joins; a window in a measure is an error, no materialization",
        starts=(start,),
        statement=parse,
        trigger=BEGINNING + trigger,
        test="tests/sql/test_metric_views.py",
    )


_EXAMPLE = "source: orders\nmeasures: [{name: total, expr: SUM(amount)}]"
CONSTRUCTS = in_area(
    "Views",
    _construct(
        "CREATE VIEW … WITH METRICS",
        "CREATE",
        r"create\s+(?:or\s+replace\s+)?view\s.*?\bwith\s+metrics\b",
        f"CREATE VIEW kpis WITH METRICS LANGUAGE YAML AS $$ version: 1.1\n{_EXAMPLE} $$",
        _create,
    ),
    _construct(
        "ALTER VIEW … AS $$…$$",
        "ALTER",
        r"alter\s+view\s.*?\bas\s+\$\$",
        f"ALTER VIEW kpis AS $$ version: 1.1\n{_EXAMPLE} $$",
        _alter,
    ),
)
