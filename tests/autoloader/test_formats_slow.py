"""Every format with every evolution mode."""

from __future__ import annotations

import json
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
