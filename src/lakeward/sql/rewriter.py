"""Rewrite SQL that Spark does not parse as Databricks does, for the session's parser: no Spark, no files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from lakeward.sql import delta_statements
from lakeward.sql.construct import Command, Construct, Edit, Edits, RewriteResult
from lakeward.sql.constructs import (
    bloom_filter_indexes,
    catalog_listings,
    catalogs,
    clone,
    collations,
    configuration_parameters,
    convert,
    copy_into,
    copy_location,
    create_table,
    dropped_tables,
    event_log,  # noqa: F401  # registers a function
    expressions,
    extended_listings,
    external_locations,
    foreign_objects,
    functions,
    governance,
    inserts,
    keys,
    listings,
    materialized_views,
    merge,
    metric_views,
    not_null,
    partitions,
    pipeline_statements,
    platform_clauses,
    policies,
    principals,
    procedures,
    python_functions,
    query_tags,
    schemas,
    scripting,
    show_create_table,
    table_descriptions,
    table_history,
    table_json,
    tables,
    tag_policies,
    temporary_tables,
    temporary_views,
    time_travel,
    transactions,
    volumes,
)
from lakeward.sql.identifier_clause import ComputeIdentifiers, identifier_clauses, with_placeholders
from lakeward.sql.procedures import has_calls
from lakeward.sql.script import (
    assigns_variable,
    declared_names,
    execute_immediate,
    is_script,
    script_trigger,
    sets_time_zone,
    statements,
)
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched, tokenize

# Statements are tried in this order; docs/sql.md has one section per run of equal areas.
CONSTRUCTS: tuple[Construct, ...] = (
    *bloom_filter_indexes.CONSTRUCTS,
    *catalogs.CONSTRUCTS,
    *schemas.CONSTRUCTS,
    *catalog_listings.CONSTRUCTS,
    *listings.CONSTRUCTS,
    *extended_listings.CONSTRUCTS,
    *volumes.CONSTRUCTS,
    *expressions.CONSTRUCTS,
    *transactions.CONSTRUCTS,
    *scripting.CONSTRUCTS,
    *procedures.CONSTRUCTS,
    *tables.CONSTRUCTS,
    *dropped_tables.CONSTRUCTS,
    *collations.CONSTRUCTS,
    *not_null.CONSTRUCTS,
    *partitions.CONSTRUCTS,
    *clone.CONSTRUCTS,
    *convert.CONSTRUCTS,
    *time_travel.CONSTRUCTS,
    *delta_statements.CONSTRUCTS,
    *show_create_table.CONSTRUCTS,
    *table_descriptions.CONSTRUCTS,
    *table_history.CONSTRUCTS,
    *table_json.CONSTRUCTS,
    *temporary_tables.CONSTRUCTS,
    *temporary_views.CONSTRUCTS,
    *pipeline_statements.CONSTRUCTS,
    *materialized_views.CONSTRUCTS,
    *metric_views.CONSTRUCTS,
    *create_table.CONSTRUCTS,
    *keys.CONSTRUCTS,
    *inserts.CONSTRUCTS,
    *merge.CONSTRUCTS,
    *copy_into.CONSTRUCTS,
    *copy_location.CONSTRUCTS,
    *functions.CONSTRUCTS,
    *python_functions.CONSTRUCTS,
    *external_locations.CONSTRUCTS,
    *governance.CONSTRUCTS,
    *foreign_objects.CONSTRUCTS,
    *principals.CONSTRUCTS,
    *platform_clauses.CONSTRUCTS,
    *query_tags.CONSTRUCTS,
    *configuration_parameters.CONSTRUCTS,
    *policies.CONSTRUCTS,
    *tag_policies.CONSTRUCTS,
)


def triggers() -> str:
    """Return the pattern of all texts that Spark parses with a different meaning."""
    triggered = [construct for construct in CONSTRUCTS if construct.trigger]
    words = {word for construct in triggered for word in construct.first_words}
    patterns = [construct.trigger for construct in triggered] + [
        script_trigger([*words, *delta_statements.DELTA_VERBS])
    ]
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def rewrite(text: str, *, is_expression: bool = False) -> RewriteResult | None:
    """Rewrite a text that Spark does not parse, or that matches a trigger; None leaves it to Spark.

    Never raises: a text that cannot be tokenized is left to Spark, which reports the error. Before a comment
    that is not closed, single places are rewritten all the same, so that Spark reports the comment.

    >>> rewrite("select 1"), rewrite("select 'unclosed")
    (None, None)
    """
    tokens = tokenize(text)
    if tokens is not None or "/*" not in text:
        return _analyze(text, is_expression=is_expression, tokens=tokens)[0]
    closed = tokenize(text + " */" * text.count("/*")) or ()
    before = tuple(token for token in closed if token.end <= len(text))
    result = _analyze(text, is_expression=is_expression, tokens=before)[0]
    return result if isinstance(result, Edits) else None


def constructs_in(text: str, tokens: tuple[Token, ...] | None = None) -> tuple[Construct, ...]:
    """Return the constructs that a statement uses; `tokens` are those of `text` where they are known."""
    return _analyze(text, is_expression=False, tokens=tokens)[1]


def _analyze(
    text: str, *, is_expression: bool, tokens: tuple[Token, ...] | None = None
) -> tuple[RewriteResult | None, tuple[Construct, ...]]:
    tokens = tokenize(text) if tokens is None else tokens
    if not tokens:
        return None, ()
    replaced: list[Edit] = []
    used: list[Construct] = []
    parts: list[Sequence[Token]] = [tokens]
    if not is_expression:
        result, used = _analyze_statement(tokens, text)
        if result is not None:
            return result, tuple(used)
        if is_script(tokens):
            if has_calls(tokens):
                return procedures.CallProcedures(text, is_script=True), _statements()["CALL"]
            parts += statements(tokens)
            replaced, used = _script_edits(parts[1:], text, declared_names(tokens))
    edits = list(replaced)
    for construct in _with_edits():
        assert construct.edits is not None
        found = [each for part in parts for each in construct.edits(part) if not _is_within(each, replaced)]
        edits += found
        used += [construct] if found else []
    return (Edits(_sorted_edits(edits)) if edits else None), tuple(used)


def _analyze_statement(tokens: Sequence[Token], text: str) -> tuple[RewriteResult | None, list[Construct]]:
    """Return what the whole statement becomes, None if it is not one of the table, and its constructs."""
    computed = identifier_clauses(tokens, text)
    if computed:
        named = with_placeholders(computed, text)
        result, used = _analyze_statement(tokenize(named) or (), named)
        if isinstance(result, Command) or delta_statements.is_of_delta(tokens):
            return ComputeIdentifiers(computed, text), used
    for construct in _statements().get(tokens[0].word, ()):
        assert construct.statement is not None
        try:
            return construct.statement(TokenCursor(tokens, text)), [construct]
        except Unmatched:
            continue
    return None, []


def _script_edits(
    parts: Sequence[Sequence[Token]], text: str, declared: frozenset[str]
) -> tuple[list[Edit], list[Construct]]:
    """Return the edits of a script's simple statements that Spark's grammar of scripts lacks."""
    edits: list[Edit] = []
    used: list[Construct] = []
    for statement in parts:
        start, end = statement[0].start, statement[-1].end
        part = text[start:end]
        own = [token._replace(start=token.start - start, end=token.end - start) for token in statement]
        if assigns_variable(own, declared):
            continue
        result, constructs = _analyze_statement(own, part)
        used += constructs
        if sets_time_zone(own):
            edits.append(Edit(start, end, execute_immediate(own, part, ())))
        elif isinstance(result, Edits):
            edits += [Edit(start + each.start, start + each.end, each.text) for each in result.edits]
        elif result is not None or delta_statements.is_of_delta(own):
            computed = result.clauses if isinstance(result, ComputeIdentifiers) else ()
            edits.append(Edit(start, end, execute_immediate(own, part, computed)))
    return edits, used


def _is_within(edit: Edit, others: Sequence[Edit]) -> bool:
    return any(other.start <= edit.start and edit.end <= other.end for other in others)


def _sorted_edits(edits: list[Edit]) -> tuple[Edit, ...]:
    """Sort the edits; of two that overlap, the first one wins."""
    out: list[Edit] = []
    for edit in sorted(dict.fromkeys(edits), key=lambda e: (e.start, e.end)):
        if not out or edit.start >= out[-1].end:
            out.append(edit)
    return tuple(out)


@cache
def _statements() -> dict[str, tuple[Construct, ...]]:
    by_word: dict[str, tuple[Construct, ...]] = {}
    for construct in CONSTRUCTS:
        for word in construct.first_words:
            by_word[word] = (*by_word.get(word, ()), construct)
    return by_word


@cache
def _with_edits() -> tuple[Construct, ...]:
    return tuple(c for c in CONSTRUCTS if c.edits is not None)
