"""The five evolution modes, new columns, and rescued data (AL-2 to AL-4)."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

from lakeward.errors import CloudFilesError


@pytest.mark.rule("2.2", "2.2.10", "2.2.12", "4.3.1")
def test_json_columns_are_strings_as_written_in_alphabetical_order(landing) -> None:
    landing.put("a.json", text='{"b": 1.10, "a": {"x": [1, 2.50]}, "c": "t", "d": true, "e": null}\n')
    df = landing.stream()
    assert df.columns == ["a", "b", "c", "d", "e", "_rescued_data"]
    landing.ingest(df)
    assert landing.rows() == [('{"x": [1, 2.50]}', "1.10", "t", "true", None, None)]


@pytest.mark.rule("2.3.1", "2.3.3", "2.3.5")
def test_hints_override_inferred_types(landing) -> None:
    landing.put("a.json", {"n": 1, "d": "2024-01-02", "u": {"id": 1, "dob": "2024-01-02"}, "p": {"k": "v"}})
    hints = "d DATE, u.dob DATE, p MAP<STRING,STRING>, t TIMESTAMP"
    df = landing.stream(cf_inferColumnTypes="true", cf_schemaHints=hints)
    assert df.schema.simpleString() == (
        "struct<d:date,n:bigint,p:map<string,string>,u:struct<dob:date,id:bigint>,t:timestamp,_rescued_data:string>"
    )
    landing.ingest(df)
    row = landing.spark.table(landing.table).first()
    assert (str(row.d), row.n, row.p, str(row.u.dob), row.t) == (
        "2024-01-02",
        1,
        {"k": "v"},
        "2024-01-02",
        None,
    )


@pytest.mark.rule("3.2.4", "3.2.5", "3.2.6", "3.2.7", "3.3.1", "3.3.2", "3.3.3", "2.4.1", "3.2.9", "2.1.1")
def test_a_new_column_stops_the_stream_once_and_then_is_there_at_the_end(landing) -> None:
    landing.put("a.json", {"m": 1})
    landing.ingest(landing.stream())
    landing.put("b.json", {"m": 2, "b": "x"})
    landing.put("c.json", {"m": 3, "a": "y"})
    df = landing.stream(cf_maxFilesPerTrigger=10)
    with pytest.raises(StreamingQueryException) as error:
        landing.ingest(df)
    text = str(error.value)
    assert text.startswith(
        "[UNKNOWN_FIELD_EXCEPTION.NEW_FIELDS_IN_RECORD_WITH_FILE_PATH] Encountered unknown fields"
    )
    assert "UnknownFieldException" in text
    assert "automatic retry: true" in text
    assert "STREAM_FAILED" not in text
    assert "Traceback" not in text
    assert error.value.getSqlState() == "KD003"
    assert landing.rows("m") == [("1",)]
    assert landing.schema_versions() == ["0", "1"]
    with pytest.raises(StreamingQueryException, match="UNKNOWN_FIELD_EXCEPTION"):
        landing.ingest(df)
    assert landing.schema_versions() == ["0", "1"]
    restarted = landing.stream()
    assert restarted.columns == ["m", "a", "b", "_rescued_data"]
    landing.ingest(restarted)
    assert landing.rows("m", "a", "b") == [("1", None, None), ("2", None, "x"), ("3", "y", None)]


@pytest.mark.rule("3.3.1", "7.11")
def test_the_restart_loop_of_the_official_demo_ends(landing) -> None:
    landing.put("a.json", {"a": 1})
    landing.put("b.json", {"a": 1})
    landing.ingest(landing.stream())
    landing.put("c.json", {"a": 2, "b": 1})
    runs = 0
    while True:
        runs += 1
        try:
            landing.ingest(landing.stream())
            break
        except Exception as error:
            if not ("UNKNOWN_FIELD_EXCEPTION" in str(error) or "UnknownFieldException" in str(error)):
                raise
    assert runs == 2
    assert landing.rows("a", "b") == [("1", None), ("1", None), ("2", "1")]


@pytest.mark.rule("3.1", "3.3.2")
def test_fail_on_new_columns_keeps_failing_and_changes_nothing(landing) -> None:
    landing.put("a.json", {"a": 1})
    options = {"cf_schemaEvolutionMode": "failOnNewColumns"}
    landing.ingest(landing.stream(**options))
    landing.put("b.json", {"a": 2, "b": 1})
    for _ in range(2):
        with pytest.raises(StreamingQueryException, match="automatic retry: false"):
            landing.ingest(landing.stream(**options))
    assert landing.schema_versions() == ["0"]
    landing.ingest(landing.stream(cf_schemaHints="b string", **options))
    assert landing.rows("a", "b") == [("1", None), ("2", "1")]


@pytest.mark.rule("3.1", "4.1.4", "4.1.5")
def test_rescue_mode_never_fails_and_loses_nothing(landing) -> None:
    landing.put("a.json", {"quantity": 1, "status": "x"})
    options = {"cf_schemaEvolutionMode": "rescue", "cf_inferColumnTypes": True}
    landing.ingest(landing.stream(**options))
    landing.put("b.json", {"quantity": {"units": 2}, "Status": "SHIPPED", "status": "y"})
    landing.ingest(landing.stream(**options))
    rescued = landing.spark.table(landing.table).where("_rescued_data is not null")
    row = rescued.select("*", F.get_json_object("_rescued_data", "$.Status").alias("s")).first()
    assert (row.quantity, row.status, row.s) == (None, "y", "SHIPPED")
    assert json.loads(row._rescued_data) == {
        "Status": "SHIPPED",
        "quantity": '{"units": 2}',
        "_file_path": f"file:{landing.folder}/b.json",
    }
    assert list(json.loads(row._rescued_data))[-1] == "_file_path"


@pytest.mark.rule("3.1", "4.3.3", "4.3.4")
def test_a_given_schema_drops_unknown_fields_unless_they_are_to_be_rescued(landing) -> None:
    landing.put("a.json", {"a": 1, "z": 2})
    landing.ingest(landing.stream("a int"))
    assert landing.rows() == [(1,)]
    landing.put("b.json", {"a": 1, "z": 2})
    landing.ingest(landing.stream("a int", cf_schemaEvolutionMode="rescue"))
    assert f'{{"z":2,"_file_path":"file:{landing.folder}/b.json"}}' in [row[1] for row in landing.rows()]


@pytest.mark.rule("4.5.3")
def test_a_malformed_line_is_only_in_its_column(landing) -> None:
    landing.put("a.json", text='{"a":1}\n{"a":\n{"a":"x"}\n')
    schema = "a int, _corrupt_record string"
    landing.ingest(landing.stream(schema, columnNameOfCorruptRecord="_corrupt_record"))
    assert landing.rows() == sorted([(1, None), (None, '{"a":'), (None, '{"a":"x"}')], key=repr)


@pytest.mark.rule("3.4", "3.2.8")
def test_csv_goes_by_name_whatever_the_order_and_types_widen(landing) -> None:
    landing.put("a.csv", text="id,quantity\n1,2\n2,5\n")
    options = {
        "format": "csv",
        "cf_inferColumnTypes": True,
        "cf_schemaEvolutionMode": "addNewColumnsWithTypeWidening",
    }
    df = landing.stream(**options)
    assert df.dtypes == [("id", "int"), ("quantity", "int"), ("_rescued_data", "string")]
    landing.ingest(df)
    landing.put("b.csv", text="quantity,id\n2147483648,3\n")
    with pytest.raises(StreamingQueryException, match="UNKNOWN_FIELD_EXCEPTION"):
        landing.ingest(landing.stream(**options))
    landing.spark.sql(f"alter table {landing.table} set tblproperties ('delta.enableTypeWidening' = 'true')")
    widened = landing.stream(**options)
    assert widened.dtypes[1] == ("quantity", "bigint")
    landing.ingest(widened)
    landing.put("c.csv", text="id,quantity\n4,not_available\n")
    landing.ingest(landing.stream(**options))
    assert landing.rows("id", "quantity") == [(1, 2), (2, 5), (3, 2147483648), (4, None)]
    rescued = f'{{"quantity":"not_available","_file_path":"file:{landing.folder}/c.csv"}}'
    assert [row[0] for row in landing.rows("_rescued_data") if row[0]] == [rescued]


@pytest.mark.rule("2.2.10", "2.3.6")
def test_parquet_keeps_its_types_and_rescues_what_a_hint_contradicts(landing) -> None:
    table = pa.table({"VendorID": pa.array([1, 2], pa.int32()), "fare": [1.5, 2.5]})
    pq.write_table(table, landing.folder / "a.parquet")
    df = landing.stream(format="parquet", cf_schemaHints="VendorID BIGINT")
    assert df.dtypes[:2] == [("VendorID", "bigint"), ("fare", "double")]
    landing.ingest(df)
    path = f"file:{landing.folder}/a.parquet"
    assert landing.rows() == [
        (None, 1.5, f'{{"VendorID":1,"_file_path":"{path}"}}'),
        (None, 2.5, f'{{"VendorID":2,"_file_path":"{path}"}}'),
    ]


@pytest.mark.rule("1.1.4", "2.1.5", "2.3.8", "3.2.1", "3.2.2")
@pytest.mark.parametrize(
    ("condition", "options", "schema"),
    [
        ("CF_UNKNOWN_OPTION_KEYS_ERROR", {"cf_readerCaseSensitive": "true"}, "a int"),
        ("CF_ADD_NEW_NOT_SUPPORTED", {"cf_schemaEvolutionMode": "addNewColumns"}, "a int"),
        ("CF_INVALID_SCHEMA_EVOLUTION_MODE", {"cf_schemaEvolutionMode": "sometimes"}, "a int"),
        ("CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE", {}, None),
        ("CF_INVALID_SCHEMA_HINTS_OPTION", {"cf_schemaHints": "a INT, a STRING", "put": True}, None),
        ("CF_INVALID_OPTION_VALUE", {"cf_maxFilesPerTrigger": "many"}, "a int"),
        ("CF_INVALID_OPTION_VALUE", {"cf_maxFileAge": "soon"}, "a int"),
    ],
)
def test_invalid_options_fail_before_the_query_starts(landing, condition, options, schema) -> None:
    options = dict(options)
    if options.pop("put", False):
        landing.put("a.json", {"a": 1})
    with pytest.raises(CloudFilesError) as error:
        landing.ingest(landing.stream(schema, **options))
    assert error.value.condition == condition
    assert f"[{condition}]" in str(error.value)


@pytest.mark.rule("2.1.9")
def test_batch_use_missing_paths_and_broken_files_have_their_own_errors(landing) -> None:
    with pytest.raises(CloudFilesError, match="CF_INCORRECT_BATCH_USAGE"):
        landing.spark.read.format("cloudFiles").load(str(landing.folder))
    with pytest.raises(StreamingQueryException, match="CF_PATH_DOES_NOT_EXIST"):
        landing.ingest(landing.stream("a int", path="/nowhere/at/all"))
    landing.put("ok.json", {"a": 1})
    (landing.folder / "cut.json.gz").write_bytes(b"\x1f\x8b\x08\x00\x00")
    with pytest.raises(StreamingQueryException, match=r"FAILED_READ_FILE\.NO_HINT.*cut\.json\.gz"):
        landing.ingest(landing.stream("a int"))
    assert landing.rows() == []
    landing.ingest(landing.stream("a int", ignoreCorruptFiles=True))
    assert landing.rows() == [(1,)]


def test_an_empty_folder_with_a_schema_is_an_empty_stream(landing) -> None:
    landing.ingest(landing.stream("a int"))
    assert landing.rows() == []


@pytest.mark.rule("2.3.7", "3.4")
def test_json_types_widen_despite_text_values_and_a_hint_pins_them(landing) -> None:
    options = {"cf_inferColumnTypes": True, "cf_schemaEvolutionMode": "addNewColumnsWithTypeWidening"}
    hints = {"cf_schemaHints": "pinned INT, n INT"}
    landing.put("a.json", {"n": 1, "pinned": 1, "wide": 1})
    version = landing.stream(**options, **hints).schema["n"].dataType.simpleString()
    assert version == "int"
    landing.ingest(landing.stream(**options, **hints))
    landing.put("b.json", {"n": 2147483648, "pinned": 2147483648, "wide": "word"}, {"n": "word"})
    landing.ingest(landing.stream(**options, **hints))
    rescued = [json.loads(row[0]) for row in landing.rows("_rescued_data") if row[0]]
    assert sorted(sorted(key for key in found if key != "_file_path") for found in rescued) == [
        ["n"],
        ["n", "pinned", "wide"],
    ]


@pytest.mark.rule("4.3.2", "4.3.5", "4.5.4", "1.1.9", "5.1")
def test_columns_of_a_given_schema(landing) -> None:
    """The schema of `load`, without running the stream."""
    assert landing.stream("a int", rescuedDataColumn="r").columns == ["a", "r"]
    assert landing.stream("r string, a int", rescuedDataColumn="r").columns == ["r", "a"]
    assert landing.stream("a int, _metadata string").select("_metadata").dtypes == [("_metadata", "string")]
    landing.put("a.json", {"a": 1})
    hinted = landing.stream(cf_schemaHints="_corrupt_record string, n int")
    assert hinted.dtypes == [
        ("a", "string"),
        ("_corrupt_record", "string"),
        ("n", "int"),
        ("_rescued_data", "string"),
    ]


@pytest.mark.rule("3.2.8")
def test_a_table_grows_only_when_the_writer_merges_schemas(landing) -> None:
    landing.put("a.json", {"a": 1})
    landing.ingest(landing.stream())
    landing.put("b.json", {"a": 2, "b": 1})
    with pytest.raises(StreamingQueryException, match="UNKNOWN_FIELD_EXCEPTION"):
        landing.ingest(landing.stream())
    query = landing.stream().writeStream.option("checkpointLocation", str(landing.checkpoint))
    with pytest.raises(StreamingQueryException, match=r"DELTA_METADATA_MISMATCH|schema mismatch"):
        query.trigger(availableNow=True).toTable(landing.table).awaitTermination()
    assert landing.rows() == [("1", None)]


@pytest.mark.rule("1.3")
def test_credentials_are_in_no_plan(landing) -> None:
    secrets = {"cf_clientSecret": "hunter2", "cf_useNotifications": True, "fs.s3a.secret.key": "hunter2"}
    with pytest.warns(UserWarning, match="has no effect here") as warned:
        df = landing.stream("a int", **secrets)
    assert "hunter2" not in "".join(str(each.message) for each in warned)
    plan = df._jdf.queryExecution().analyzed()
    shown = plan.toString() + plan.treeString() + plan.collectLeaves().head().extraOptions().toString()
    assert "hunter2" not in shown + df._jdf.queryExecution().toString()


@pytest.mark.rule("1.1.4", "1.1.3")
def test_an_unknown_key_fails_at_the_start_of_the_stream(landing) -> None:
    df = landing.stream("a int", cf_odd="1")
    with pytest.raises(CloudFilesError, match="CF_UNKNOWN_OPTION_KEYS_ERROR"):
        landing.ingest(df)
