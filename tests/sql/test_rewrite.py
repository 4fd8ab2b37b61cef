"""The rewriter by itself: what it does to a text, and that no text at all upsets it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakeward.sql import (
    CONSTRUCTS,
    Edits,
    Refusal,
    apply_edits,
    constructs_in,
    fill_parameters,
    rewrite,
    tokenize,
)
from lakeward.sql.constructs.catalogs import CreateCatalog, UseCatalog
from lakeward.sql.constructs.create_table import CreateTable
from lakeward.sql.constructs.governance import Grant


def rewritten(text: str) -> str:
    """The text that Spark is given."""
    outcome = rewrite(text)
    if isinstance(outcome, CreateTable):
        return outcome.text
    assert isinstance(outcome, Edits)
    return apply_edits(text, outcome.edits)


@pytest.mark.parametrize(
    "text",
    [
        "select 1",
        "select :p, ?, a::int, map('a', 1)['a'] from t where x = ':a ?:: b' -- 'q':a",
        "create table t (s struct<a:int, b:array<string>>)",
        "select x:a.b[0]::int from t",
        "select 'never closed",
        "select /* never closed",
        "",
        ";",
        "use catalog",
        "`use` catalog c",
        "create table t `cluster` by auto",
        "select x:a/* a comment */[*].b",
        "describe catalog",
        "grant select on",
    ],
)
def test_what_needs_nothing_is_left_to_spark(text: str) -> None:
    assert rewrite(text) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("select x?::int", "select x:lakeward_try_cast::int"),
        ("select x ?:: int", "select x :lakeward_try_cast:: int"),
        ("select '1'?::int", "select ('1'):lakeward_try_cast::int"),
        ("select '{}':a, \"{}\":b", "select ('{}'):a, (\"{}\"):b"),
        ("select 'a' 'b':c", "select ('a' 'b'):c"),
        ('select x:["a b"].c', "select x:['a b'].c"),
        ("select x:`a.b`.c", "select x:['a.b'].c"),
        ("select x:a.`b.c`", "select x:a['b.c']"),
        ("select x:a.b[*].c", "select x:`a.b[*]`.c"),
        ("select x:[*].c", "select x:`[*]`.c"),
        ("select x:a:b:[ * ].c", "select x:a:b:`[*]`.c"),
        ("create table t cluster by auto as select 1", "create table t                 as select 1"),
        ("comment on column c.s.t.a is 'x'", "ALTER TABLE `c`.`s`.`t` ALTER COLUMN `a` COMMENT 'x'"),
        (
            "create table t (a int not null primary key not enforced comment 'primary key', b int)",
            "create table t (a int not null                          comment 'primary key', b int)",
        ),
        ("select * from a.t@v12 u", "select * from a.`t@v12` u"),
        (
            "create schema s managed location 'x' comment 'y'",
            "create schema s WITH DBPROPERTIES ('managedLocation' = 'x') comment 'y'",
        ),
        (
            "create table t (a map<int, array<int>> unique rely, s struct<unique: int>, unique (a, s))",
            "create table t (a map<int, array<int>>            , s struct<unique: int>               )",
        ),
        (
            "create table t (unique int, b int as (unique < 1) unique, constraint u unique (b))",
            "create table t (unique int, b int as (unique < 1)                                )",
        ),
        (
            "create table t (a int, primary key (a) 'x')",
            "create table t (a int NOT NULL                  'x')",
        ),
        (
            "create table t (a int, constraint k primary key (a, b), b int references u not null)",
            "create table t (a int NOT NULL                                 , b int              not null)",
        ),
    ],
)
def test_single_places_are_rewritten(text: str, wanted: str) -> None:
    assert rewritten(text) == wanted


def test_several_constructs_in_one_statement() -> None:
    text = "create table t cluster by auto as select '{}':a?::int, x:[\"b\"] from s"
    assert rewritten(text) == (
        "create table t                 as select ('{}'):a:lakeward_try_cast::int, x:['b'] from s"
    )
    assert [c.name for c in constructs_in(text)] == [
        "A literal before a path",
        'column:["name"]',
        "?::",
        "CLUSTER BY AUTO, NONE",
    ]


def test_names_are_read_as_quoted_and_strings_as_escaped() -> None:
    assert rewrite("CREATE CATALOG `a``b` COMMENT 'it\\'s' ' here' ; ") == CreateCatalog(
        "a`b", if_not_exists=False, comment="it's here"
    )


def test_parameters_are_put_in_where_they_stand() -> None:
    text = "GRANT SELECT ON TABLE IDENTIFIER(:t) TO :who -- :who"
    assert fill_parameters(text, {"t": "'a.b'", "who": "'me'"}) == (
        "GRANT SELECT ON TABLE IDENTIFIER('a.b') TO 'me' -- :who"
    )
    assert fill_parameters("LIST ? LIMIT ?", ["'/a'", "3"]) == "LIST '/a' LIMIT 3"
    assert fill_parameters("SELECT x:t, ':t', `:t`, :other", {"t": "1"}) == "SELECT x:t, ':t', `:t`, :other"
    assert rewrite("USE CATALOG IDENTIFIER('m')") == UseCatalog("m")
    granted = rewrite("GRANT SELECT ON TABLE IDENTIFIER('a.`b c`') TO x")
    assert isinstance(granted, Grant)
    assert granted.securable.name == ["a", "b c"]


@pytest.mark.parametrize("statement", ["SET (a, b) = (SELECT 1, 2)", "SELECT (1", "SELECT 1)", "SET 'a' = 1"])
def test_a_statement_of_a_script_leaves_the_others_rewritten(statement: str) -> None:
    """Spark reports an error at its own place, and none at a construct of Databricks."""
    text = f"BEGIN SIGNAL SQLSTATE '45000'; {statement}; SELECT '{{}}':a; END"
    found = rewritten(text)
    assert found.startswith("BEGIN SELECT ") and "'{}':a" not in found and f"; {statement}; " in found


@pytest.mark.parametrize("comment", ["/* open", "/* a */ /* /* open */", "/* open -- * / ' \" `"])
def test_places_before_an_open_comment_are_rewritten(comment: str) -> None:
    assert rewritten(f"SELECT '{{}}':a {comment}").endswith(f" {comment}")
    assert "'{}':a" not in rewritten(f"SELECT '{{}}':a {comment}")
    # A command would run in spite of the error.
    assert rewrite("SHOW TABLES DROPPED") is not None
    assert rewrite(f"SHOW TABLES DROPPED {comment}") is None


def test_a_refusal_names_the_reason() -> None:
    outcome = rewrite("FSCK REPAIR TABLE t")
    assert isinstance(outcome, Refusal)
    assert "RESTORE TABLE" in outcome.message


@pytest.mark.parametrize("construct", [c for c in CONSTRUCTS if c.statement or c.edits], ids=lambda c: c.name)
def test_every_example_is_recognized(construct: object) -> None:
    assert construct in constructs_in(construct.example)  # type: ignore[attr-defined]  # a parametrized Construct


def test_what_is_declared_as_is_needs_nothing() -> None:
    for construct in CONSTRUCTS:
        if construct.verdict == "supported":
            assert constructs_in(construct.example) == (), construct.name


# What statements are made of; joined at random they are seldom SQL, which is the point.
PIECES = st.sampled_from(
    [
        *(
            "select",
            "from",
            "create",
            "table",
            "alter",
            "set",
            "tags",
            "owner",
            "to",
            "use",
            "catalog",
            "show",
        ),
        *(
            "describe",
            "volumes",
            "grant",
            "on",
            "comment",
            "is",
            "null",
            "list",
            "deep",
            "clone",
            "cluster by auto",
        ),
        *(
            "primary key",
            "foreign key",
            "references",
            "constraint",
            "mask f",
            "using columns",
            "row filter f on",
        ),
        *("if not exists", "vacuum", "retain 5 hours", "dry run", "merge", "into", "copy"),
        *("::", "?::", ":", ".", ",", "(", ")", "[", "]", "*", ";", "x", "a.b", "x:a", "x:a.b[0]", "x:[*].c"),
        *("x:`a.b`", 'x:["q"]', ":p", "?", "$", "${v}", "{x}", "--", "/*", "*/", "/* :a */", "/*+", "`"),
    ]
)
QUOTED = st.builds(
    lambda quote, inside: f"{quote}{inside.replace(quote, quote * 2)}{quote}",
    st.sampled_from(["'", '"', "`"]),
    st.text(alphabet="ab:?.*[]-/ é😀\n'\"`", max_size=8),
)
TEXTS = st.lists(PIECES | QUOTED | st.text(max_size=4), max_size=14).map(" ".join)


@given(TEXTS | st.text())
@example("BEGIN SET (a, b) = (SELECT 1, 2); END")
@example("BEGIN SET; END")
@example("BEGIN SELECT (1; CALL p(); END")
@example("BEGIN IF (a THEN SELECT 1; END IF; END")
@example("'" * 3)
@example("\x00`")
def test_no_text_upsets_the_rewriter(text: str) -> None:
    for is_expression in (False, True):
        outcome = rewrite(text, is_expression=is_expression)
        if isinstance(outcome, Edits):
            places = [(e.start, e.end) for e in outcome.edits]
            assert places == sorted(places)
            assert all(0 <= a <= b <= len(text) for a, b in places)


@given(TEXTS)
@example("select ' ?:: ', `a ?:: b`, x ?:: int /* ?:: */ -- ?::")
@example("select 'cluster by auto' -- cluster by auto\n, '{}':a")
@example("x:[*].c /*")
def test_strings_comments_and_quoted_names_stay_as_they_are(text: str) -> None:
    outcome = rewrite(text)
    if not isinstance(outcome, Edits) or outcome.edits[0].text.startswith("ALTER TABLE"):
        return
    # Places before a comment that is not closed are rewritten, too.
    tokens = tokenize(text) or tokenize(text + " */" * text.count("/*")) or ()
    for edit in outcome.edits:
        touched = [t for t in tokens if t.start < edit.end and edit.start < t.end]
        for token in touched:
            # A name inside a path may change its quotes, never what it says.
            assert not token.is_quoted or token.text[1:-1] in edit.text
        if not touched:
            assert edit.text in "()", edit
        covered = text[edit.start : edit.end]
        assert "--" not in covered
        assert "/*" not in covered
