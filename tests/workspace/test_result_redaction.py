"""Results of statements show no secret, in columns of any type."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lakeward.dbutils import record_secret
from lakeward.workspace.command_contexts.interpreter import Interpreter
from lakeward.workspace.warehouse.statement_results import redact_batch
from tests.dbutils.test_redactor import MARKS, SECRETS

TEXT = pa.string()
COLUMNS: dict[str, tuple[Any, Callable[[str], Any]]] = {
    "text": (TEXT, lambda value: value),
    "large text": (pa.large_string(), lambda value: f"x {value} y"),
    "json": (TEXT, lambda value: json.dumps({"k": value})),
    "list": (pa.list_(TEXT), lambda value: ["a", None, value]),
    "struct": (pa.struct([("a", TEXT), ("n", pa.int64())]), lambda value: {"a": value, "n": 1}),
    "map": (pa.map_(TEXT, TEXT), lambda value: [("k", value), ("l", None)]),
    "nested": (
        pa.list_(pa.struct([("m", pa.map_(TEXT, pa.list_(TEXT)))])),
        lambda value: [{"m": [("k", [value])]}],
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_no_column_shows_a_secret(name: str) -> None:
    kind, put = COLUMNS[name]
    for secret, value in SECRETS.items():
        record_secret(value.encode())
        plain = pa.array([put("harmless"), put(value), None], type=kind)
        numbers = pa.array([1, 2, 3])
        batch = pa.RecordBatch.from_arrays([plain, numbers], names=["a", "b"])
        for each in (batch, batch.slice(1, 1)):
            shown = redact_batch(each)
            assert shown.schema == each.schema
            assert not [mark for mark in MARKS if mark in str(shown.to_pylist())], secret
            assert shown.column(1) == each.column(1)
        assert redact_batch(batch).to_pylist()[0] == batch.to_pylist()[0]
        assert redact_batch(batch).to_pylist()[2]["a"] is None


def test_a_large_result_without_secrets_is_left_alone_and_fast() -> None:
    for number in range(20):
        record_secret(f"Aq7a-{number}-&Zq9z".encode())
    batch = pa.RecordBatch.from_arrays([pa.array([f"value {n} & more" for n in range(100_000)])], names=["a"])
    began = time.thread_time()
    assert redact_batch(batch).column(0) is not None
    assert redact_batch(batch) == batch
    # A tenth of that; matching each value against each form of each secret takes minutes.
    assert time.thread_time() - began < 5


def test_the_builtins_of_a_context_are_a_module(tmp_path: Path) -> None:
    results = Interpreter(tmp_path).run("python", "sum = None; __builtins__.sum([1, 2])")
    assert "3" in json.dumps(results), results


@pytest.mark.parametrize(
    "command",
    [
        "print(value)",
        "value",
        "[value]",
        "import json\nprint(json.dumps(value))",
        "raise ValueError(value)",
        "displayHTML(value)",
    ],
)
def test_no_command_shows_a_secret(command: str, tmp_path: Path) -> None:
    interpreter = Interpreter(tmp_path)
    for secret, value in SECRETS.items():
        record_secret(value.encode())
        interpreter.namespace["value"] = value
        results = interpreter.run("python", command)
        assert not [mark for mark in MARKS if mark in json.dumps(results, ensure_ascii=False)], secret
        assert "REDACTED" in json.dumps(results)
