"""Commands survive the way through the JVM, and are run by the handler of their type."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from typing import Any, cast

import msgspec
import pytest

from lakeward.errors import SqlError
from lakeward.sql import CONSTRUCTS, Command, CopyInto, register_function, register_handler, rewrite
from lakeward.sql.construct import run_command
from lakeward.sql.jvm_bridge import as_json
from tests.sql.corpus_file import cases, files

EVERY_CLAUSE = (
    """COPY INTO t (a) FROM (SELECT * FROM '/x') FILEFORMAT = CSV VALIDATE 5 ROWS FILES = ('a')
    FORMAT_OPTIONS ('a' = 'b') COPY_OPTIONS ('c' = 'd')""",
    "COPY INTO t FROM '/x' FILEFORMAT = JSON VALIDATE ALL PATTERN = '*'",
    """CREATE TABLE t (a INT MASK f USING COLUMNS (b, 'x'), b INT PRIMARY KEY,
    FOREIGN KEY (b) REFERENCES u (c)) WITH ROW FILTER g ON (a, 1)""",
)
# Lists of properties, and statements with one and where their command keeps it.
PROPERTIES = {
    "'a.b' = 'c'": {"a.b": "c"},
    "'a.b' 'c'": {"a.b": "c"},
    "'a.b' == 'c'": {"a.b": "c"},
    "a.b = 'c' 'd'": {"a.b": "cd"},
    "a.b 5": {"a.b": "5"},
    "a.b = -1.5": {"a.b": "-1.5"},
    "`a` = true, 'b' false": {"a": "true", "b": "false"},
}
WITH_PROPERTIES = {
    "CREATE TABLE t DEEP CLONE s TBLPROPERTIES ({})": lambda command: command.options.properties,
    "CREATE TEMPORARY VIEW v USING csv OPTIONS ({}, 'rescuedDataColumn' 'r')": lambda command: {
        key: value for key, value in command.options.items() if key != "rescuedDataColumn"
    },
}
NO_SESSION = cast("Any", None)


def commands() -> list[Command]:
    """All commands in the examples and in the corpus, and some with every clause."""
    texts = [construct.example for construct in CONSTRUCTS]
    texts += [case.text for path in files() for case in cases(path)]
    texts += EVERY_CLAUSE
    return [result for text in texts if isinstance(result := rewrite(text), Command)]


def test_every_command_survives_json() -> None:
    found = commands()
    for command in found:
        sent = json.loads(as_json(command))["command"]
        assert sent["name"] == command.command_name
        assert msgspec.convert(sent["arguments"], type(command)) == command, command
    types = {type(command) for command in found}
    assert len(types) >= 30
    assert all(is_dataclass(each) for each in types)


@pytest.mark.parametrize("statement", WITH_PROPERTIES)
@pytest.mark.parametrize("properties", PROPERTIES)
def test_each_spelling_of_properties_is_read(statement: str, properties: str) -> None:
    command = rewrite(statement.format(properties))
    assert WITH_PROPERTIES[statement](command) == PROPERTIES[properties]


def test_every_command_runs_or_has_a_registered_handler() -> None:
    import lakeward.copy_into
    import lakeward.pipelines
    from lakeward.sql import construct

    before = dict(construct._command_handlers)
    construct._command_handlers.clear()
    lakeward.copy_into.install(NO_SESSION)
    lakeward.pipelines.install(NO_SESSION)
    registered = set(construct._command_handlers)
    construct._command_handlers.update(before)
    without = {each for each in Command._types.values() if "run" not in vars(each)}
    assert without == registered


def test_a_handler_gets_the_typed_command_until_its_block_ends() -> None:
    seen: list[CopyInto] = []
    command = rewrite("COPY INTO t FROM '/x' FILEFORMAT = JSON")
    assert isinstance(command, CopyInto)
    sent = json.loads(as_json(command))["command"]
    with register_handler(CopyInto, lambda _, copy: seen.append(copy)):
        run_command(NO_SESSION, sent["name"], sent["arguments"])
    assert seen == [command]


@pytest.mark.parametrize("name", ["NoSuchCommand", "function.no_such_function"])
def test_an_unknown_command_has_a_condition(name: str) -> None:
    with pytest.raises(SqlError) as caught:
        run_command(NO_SESSION, name, {})
    assert caught.value.condition == "UNSUPPORTED_SQL"


def test_a_function_is_served_until_its_block_ends() -> None:
    with register_function("probe", lambda _, positional, named: (positional, named)):
        assert run_command(NO_SESSION, "function.probe", {"positional": ["a"], "named": {}}) == (["a"], {})
    with pytest.raises(SqlError):
        run_command(NO_SESSION, "function.probe", {"positional": [], "named": {}})


def test_the_previous_handler_is_restored_after_a_nested_block() -> None:
    request = {"positional": [], "named": {}}
    with register_function("probe", lambda _, **__: "outer"):
        with register_function("probe", lambda _, **__: "inner"):
            assert run_command(NO_SESSION, "function.probe", request) == "inner"
        assert run_command(NO_SESSION, "function.probe", request) == "outer"
