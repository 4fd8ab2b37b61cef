"""Every statement of the corpus gives what the reference says it gives."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, pairwise, product
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from lakeward.quoting import quote_string
from lakeward.session import condition_of
from lakeward.sql import CONSTRUCTS, constructs_in, tokenize
from tests.lanes import sampled
from tests.sql.corpus_file import Case, cases, files


def plain(value: Any) -> Any:
    """A value as the corpus writes it."""
    if isinstance(value, Row):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def difference(spark: SparkSession, case: Case) -> str | None:
    """What a statement gave instead of what was expected."""
    try:
        frame = spark.sql(case.text)
        rows = [plain(row) for row in frame.collect()]
    except (PySparkException, Py4JJavaError) as error:
        if case.condition is not None and condition_of(error) == case.condition:
            return None
        return f"{case.where}: {case.text}\n    failed: {str(error)[:300]}"
    if case.condition is not None:
        return f"{case.where}: {case.text}\n    wanted {case.condition}, gave {rows}"
    if case.columns is not None and frame.columns != case.columns:
        return f"{case.where}: {case.text}\n    wanted columns {case.columns}, gave {frame.columns}"
    if case.rows is not None and rows != case.rows:
        return f"{case.where}: {case.text}\n    wanted {json.dumps(case.rows)}\n    gave   {json.dumps(rows)}"
    return None


def differences(spark: SparkSession, path: Path, spelled: Callable[[Case], Case]) -> list[str]:
    """What the statements of a file gave, in this spelling, instead of what was expected."""
    schema = f"main.corpus_{path.stem}"
    spark.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    spark.sql(f"CREATE SCHEMA {schema}")
    spark.sql(f"USE {schema}")
    try:
        return [found for case in cases(path) if (found := difference(spark, spelled(case))) is not None]
    finally:
        spark.sql("USE main.default")


@pytest.mark.parametrize("path", files(), ids=lambda p: p.stem)
def test_statements_give_what_is_expected(spark: SparkSession, path: Path) -> None:
    found = differences(spark, path, lambda case: case)
    assert not found, "\n" + "\n".join(found)


def with_gaps(text: str, gap: str) -> str:
    """The statement with `gap` wherever it has blanks between two tokens."""
    tokens = tokenize(text) or ()
    parts = [text[each.start : each.end] for each in tokens]
    gaps = [gap if two.start > one.end else "" for one, two in pairwise(tokens)]
    return "".join(chain.from_iterable(zip(parts, [*gaps, ""], strict=True))) if parts else text


def with_comments(case: Case) -> Case:
    return replace(case, text=f"/* a; 'b */ -- c\n{with_gaps(case.text, ' /* d */ ')} -- e")


def on_many_lines(case: Case) -> Case:
    return replace(case, text=with_gaps(case.text, "\n\t"))


def in_lower_case(case: Case) -> Case:
    """The keywords, which the corpus has in upper case."""
    text = case.text
    for token in tokenize(text) or ():
        if not token.is_quoted and token.text.isupper() and len(token.text) > 1:
            text = f"{text[: token.start]}{token.text.lower()}{text[token.end :]}"
    # A column without an alias has the name that is written.
    return replace(case, text=text, columns=None)


def with_semicolon(case: Case) -> Case:
    return replace(case, text=f"{case.text}\n;")


def executed_immediately(case: Case) -> Case:
    is_script = re.match(r"(--.*\n)*\s*BEGIN\b", case.text) is not None
    return case if is_script else replace(case, text=f"EXECUTE IMMEDIATE {quote_string(case.text)}")


def in_a_script(case: Case) -> Case:
    """Scripts have the result of their last query; of other statements, the error or its absence."""
    text = case.text.rstrip().removesuffix(";")
    is_query = re.match(r"(?i)(--.*\n)*\s*(select|from|values|with)\b", text) is not None
    return replace(case, text=f"BEGIN {text}\n; END", rows=case.rows if is_query else None, columns=None)


SPELLINGS = (with_comments, on_many_lines, in_lower_case, with_semicolon, executed_immediately, in_a_script)
# These set a value for the next statements, by a grammar of their own.
SETTING = re.compile(
    r"(?i)(--.*\n)*\s*(set|reset|declare|begin transaction|create (or replace )?procedure)\b"
)
SHOWS_TEXT = re.compile(r"(?i)_definition\b|show create table")


def spelled(case: Case, spelling: Callable[[Case], Case]) -> Case:
    if SETTING.match(case.text):
        return case
    return spelling(replace(case, rows=None) if SHOWS_TEXT.search(case.text) else case)


NAMES = {path.stem: path for path in files()}


@pytest.mark.parametrize(
    ("spelling", "name"),
    sampled(
        product(SPELLINGS, NAMES),
        *product([with_comments], ["listings", "volumes"]),
        *product([in_a_script], ["merges", "hive_metastore"]),
        (executed_immediately, "object_names"),
        (in_lower_case, "volumes"),
    ),
)
def test_the_spelling_of_a_statement_does_not_matter(
    spark: SparkSession, spelling: Callable[[Case], Case], name: str
) -> None:
    found = differences(spark, NAMES[name], lambda case: spelled(case, spelling))
    assert not found, "\n" + "\n".join(found)


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    texts = [re.sub(r"\s+", " ", case.text) for path in files() for case in cases(path)]
    assert len(texts) >= 300
    assert len(set(texts)) > 0.9 * len(texts)


def test_every_construct_that_names_the_corpus_is_in_it() -> None:
    shown = {c.name for path in files() for case in cases(path) for c in constructs_in(case.text)}
    here = f"tests/sql/{Path(__file__).name}"
    recognized = [c.name for c in CONSTRUCTS if c.test == here and (c.statement or c.edits)]
    assert [name for name in recognized if name not in shown] == []
