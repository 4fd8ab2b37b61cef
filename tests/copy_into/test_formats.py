"""COPY INTO loads the rows of Spark's batch readers, in every format that the grammar names."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pandas as pd
import pytest

from lakeward.sql.constructs.copy_into import FORMATS
from tests.copy_into.conftest import Loads
from tests.copy_into.test_copy_into import failed
from tests.lanes import sampled

ROWS = "SELECT id, concat('name ', id) AS name FROM range(3)"
OPTIONS = {
    "CSV": {"header": "true", "inferSchema": "true"},
    "JSON": {"inferSchema": "true"},
    "XML": {"rowTag": "row"},
    "EXCEL": {"headerRows": "1"},
}
QUERIES = {"all": "*", "a query": "*, _metadata.file_name AS file"}


@pytest.mark.parametrize("query", sampled(QUERIES, "a query"))
@pytest.mark.parametrize("file_format", FORMATS)
def test_rows_are_those_of_the_batch_reader(loads: Loads, file_format: str, query: str) -> None:
    options = OPTIONS.get(file_format, {})
    path = loads.folder / "files"
    rows = loads.spark.sql(ROWS)
    if file_format == "BINARYFILE":
        loads.put("files/a.bin", text="content")
    elif file_format == "EXCEL":
        path.mkdir(parents=True)
        pd.DataFrame([tuple(row) for row in rows.collect()], columns=rows.columns).to_excel(
            path / "a.xlsx", index=False
        )
    else:
        text = rows.select("name") if file_format == "TEXT" else rows
        text.write.format(file_format).options(**options).save(str(path))
        for marker in path.glob("*SUCCESS*"):
            marker.unlink()
    loads.create("")
    given = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    source = f"'{path}'" if query == "all" else f"(SELECT {QUERIES[query]} FROM '{path}')"
    loads.copy(
        f"FORMAT_OPTIONS ('mergeSchema' = 'true'{given})",
        source=source,
        file_format=file_format.lower(),
        mergeSchema="true",
    )
    wanted = loads.spark.read.format(file_format).options(**options).load(str(path))
    stored = loads.spark.table(loads.table)
    expected = wanted.selectExpr("*", *(["_metadata.file_name AS file"] if query != "all" else []))
    assert dict(stored.dtypes) == dict(expected.dtypes)
    found = stored.select(*expected.columns).collect()
    assert Counter(map(repr, found)) == Counter(map(repr, expected.collect()))
    again = loads.copy(source=source, file_format=file_format, rest=f"FORMAT_OPTIONS ('a' = 'b'{given})")
    assert again == [(0, 0, 0)]


def test_xml_needs_the_element_of_a_row(loads: Loads) -> None:
    loads.create()
    loads.put("a.xml", text="<rows><row><id>1</id></row></rows>")
    assert failed(lambda: loads.copy(file_format="XML")) == "XML_ROW_TAG_MISSING"


@pytest.mark.rule("8.10")
@pytest.mark.parametrize("merge", ["true", "false"])
def test_a_type_that_does_not_fit_fails_validation_as_it_fails_the_load(loads: Loads, merge: str) -> None:
    loads.create("id INT")
    loads.put("a.json", {"id": 1})
    for clause in ("VALIDATE ALL", "VALIDATE 1 ROWS", ""):
        copy = partial(loads.copy, clause, mergeSchema=merge)
        assert failed(copy) == "DELTA_FAILED_TO_MERGE_FIELDS", clause


def test_a_view_is_no_target(loads: Loads) -> None:
    loads.put("a.json", {"id": 1})
    loads.spark.sql(f"CREATE VIEW {loads.table} AS SELECT 1 AS id")
    assert failed(loads.copy) == "DELTA_COPY_INTO_TARGET_FORMAT"
