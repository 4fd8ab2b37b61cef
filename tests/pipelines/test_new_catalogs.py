"""Tables in a catalog that an update makes are read by full names, in every spelling, in that update."""

from __future__ import annotations

from tests.pipelines.conftest import Lab

READS = {
    "table": "spark.table('{t}')",
    "read_table": "spark.read.table('{t}')",
    "sql": "spark.sql('SELECT * FROM {t}')",
    "dp_read": "dp.read('{t}')",
    "quoted": "spark.read.table('`{c}`.`s`.`t`')",
    "upper": "spark.read.table('{t}'.upper())",
    "live": "spark.table('LIVE.{t}')",
}
STREAMS = {
    "stream": "spark.readStream.table('{t}')",
    "stream_sql": "spark.sql('SELECT * FROM STREAM {t}')",
    "dp_stream": "dp.read_stream('{t}')",
}


def test_every_reader_finds_a_table_of_a_new_catalog(lab: Lab) -> None:
    catalog = f"new_{lab.schema}"
    names = {"c": catalog, "t": f"{catalog}.s.t"}
    lab.seed("numbers", "SELECT id FROM range(3)")
    code = [
        "from pyspark import pipelines as dp",
        f"@dp.table(name='{catalog}.s.t')\ndef t(): return spark.readStream.table('SRC.numbers')",
        f"@dp.temporary_view(name='v')\ndef v(): return spark.readStream.table('{catalog}.s.t')",
        f"dp.create_streaming_table('{catalog}.s.latest')",
        f"dp.create_auto_cdc_flow(target='{catalog}.s.latest', source='v', keys=['id'], sequence_by='id')",
    ]
    for decorator, readers in (("materialized_view", READS), ("table", STREAMS)):
        code += [
            f"@dp.{decorator}(name='{catalog}.o.{name}')\ndef {name}(): return {reader.format(**names)}"
            for name, reader in readers.items()
        ]
    lab.file("a.py", "\n".join(code))
    lab.file("b.sql", f"CREATE MATERIALIZED VIEW {catalog}.o.of_sql AS SELECT * FROM {catalog}.s.t")
    lab.done()
    for name in ("s.t", "s.latest", *(f"o.{each}" for each in (*READS, *STREAMS, "of_sql"))):
        rows = lab.spark.table(f"{catalog}.{name}").collect()
        assert sorted(row["id"] for row in rows) == [0, 1, 2], name
