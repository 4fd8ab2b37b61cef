"""Long proofs: every format through every mode; Avro against Spark's own reader, in a JVM with its jar."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException

pytestmark = pytest.mark.slow

RECORDS = ([{"a": 1}], [{"a": 2, "b": "x"}])


def put(path: Path, records: list[dict[str, object]]) -> None:
    names = list(records[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    elif path.suffix == ".csv":
        lines = [",".join(names), *(",".join(str(record[n]) for n in names) for record in records)]
        path.write_text("\n".join(lines) + "\n")
    elif path.suffix == ".xml":
        rows = ("".join(f"<{n}>{record[n]}</{n}>" for n in names) for record in records)
        path.write_text("<rows>" + "".join(f"<row>{row}</row>" for row in rows) + "</rows>")
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    else:
        types = {"a": "long", "b": "string"}
        fields = [{"name": name, "type": types[name]} for name in names]
        schema = fastavro.parse_schema({"type": "record", "name": "R", "fields": fields})
        with path.open("wb") as stream:
            fastavro.writer(stream, schema, records)


@pytest.mark.rule("3.1", "3.2.4", "3.2.7", "4.3.6")
@pytest.mark.parametrize(
    "mode", ["addNewColumns", "addNewColumnsWithTypeWidening", "rescue", "failOnNewColumns", "none"]
)
@pytest.mark.parametrize("cf_format", ["json", "csv", "xml", "parquet", "avro"])
def test_every_format_in_every_mode(landing, cf_format: str, mode: str) -> None:
    options = {
        "format": cf_format,
        "rowTag": "row",
        "cf_schemaEvolutionMode": mode,
        "cf_inferColumnTypes": True,
    }
    put(landing.folder / f"a.{cf_format}", RECORDS[0])
    landing.ingest(landing.stream(**options))
    put(landing.folder / f"b.{cf_format}", RECORDS[1])
    fails = {"addNewColumns": 1, "addNewColumnsWithTypeWidening": 1, "failOnNewColumns": 2}.get(mode, 0)
    for _ in range(fails):
        with pytest.raises(StreamingQueryException, match="UNKNOWN_FIELD_EXCEPTION"):
            landing.ingest(landing.stream(**options))
        assert landing.rows("a") == [(1,)]
    assert landing.schema_versions() == (["0", "1"] if mode.startswith("add") else ["0"])
    if mode == "failOnNewColumns":
        return
    landing.ingest(landing.stream(**options))
    assert landing.rows("a") == [(1,), (2,)]
    if mode.startswith("add"):
        assert landing.rows("a", "b", "_rescued_data") == [(1, None, None), (2, "x", None)]
    else:
        (rescued,) = [row[0] for row in landing.rows("_rescued_data") if row[0]]
        assert rescued == f'{{"b":"x","_file_path":"file:{landing.folder}/b.{cf_format}"}}'


ORACLE = '''
import json, sys
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.jars.packages", "org.apache.spark:spark-avro_2.13:4.2.0").getOrCreate())
query = """SELECT id, cast(id AS int) i, cast(id AS float) f, id / 3 d, cast(id AS decimal(10,2)) n,
    date'2024-01-02' day, timestamp'2024-01-02 03:04:05.123456' t, timestamp_ntz'2024-01-02 03:04:05' z,
    cast('x' AS binary) b, array(1, null) l, map('k', id) m, named_struct('x', 1, 'y', array('z')) s,
    if(id = 1, null, 'text') o, id = 0 yes FROM range(3)"""
for codec in sys.argv[2:]:
    out = f"{sys.argv[1]}/{codec}"
    spark.sql(query).coalesce(1).write.format("avro").option("compression", codec).save(out)
    back = spark.read.format("avro").load(out)
    json.dump({"schema": back.schema.jsonValue(), "rows": [str(row.asDict(True)) for row in back.collect()]},
        open(f"{out}.json", "w"))
'''


@pytest.mark.process
@pytest.mark.rule("2.2")
def test_avro_that_spark_writes_is_read_as_spark_reads_it(tmp_path: Path) -> None:
    from pyspark.sql.types import StructType

    from lakeward.autoloader.discovery import FileStatus
    from lakeward.autoloader.options import Options
    from lakeward.autoloader.schema.sampling import infer_files
    from tests.autoloader.reading import rows_of

    codecs = ["uncompressed", "deflate", "snappy", "bzip2", "xz", "zstandard"]
    done = subprocess.run(
        [sys.executable, "-c", ORACLE, str(tmp_path), *codecs], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for codec in codecs:
        (path,) = (tmp_path / codec).glob("part*")
        expected = json.loads((tmp_path / f"{codec}.json").read_text())
        schema = infer_files([FileStatus("k", str(path), 1, 1)], Options.of({"cloudFiles.format": "avro"}))
        assert schema.simpleString() == StructType.fromJson(expected["schema"]).simpleString()
        found = rows_of([path], schema, cf_format="avro")
        for row in found:
            row["m"] = dict(row["m"])
            row["t"] = row["t"].replace(tzinfo=None)
            row["b"] = bytearray(row["b"])
        assert [str(row) for row in found] == expected["rows"], codec
