"""Auto Loader against Spark's own file stream, tuned, both into a new Delta table in one warm session."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.registry import Sides, case
from benchmarks.seeding import seed_ours, seed_peer
from benchmarks.streams import SMALL_SCHEMA, Bench, bench, small_files

RESCUE = {"rescuedDataColumn": "_rescued_data"}
BIG_SCHEMA = (
    "id bigint, device string, rate double, ok boolean, at timestamp, "
    "place struct<lat: double, lon: double, name: string>, tags array<string>"
)
CSV_SCHEMA = "id bigint, device string, rate double, at timestamp, amount decimal(12, 2), note string"
PARQUET_SCHEMA = "id bigint, a double, b double, device string"


def _small(folder: Path, files: int) -> Iterator[Sides]:
    with bench(folder) as b:
        small_files(b.source, range(files))
        yield b.sides(
            lambda: b.ours("json", SMALL_SCHEMA),
            lambda: b.peer("json", SMALL_SCHEMA),
            rows=files,
            total=files * (files - 1) // 2,
        )


@case("autoloader.small_20k", goal=0.3)
@contextmanager
def small_20k(folder: Path) -> Iterator[Sides]:
    """20,000 one-line JSON files; both sides know the schema."""
    yield from _small(folder, 20_000)


@case("autoloader.small_20k_arrow", goal=1.5)
@contextmanager
def small_20k_arrow(folder: Path) -> Iterator[Sides]:
    """The same files and schema; the peer reads them with Python and decodes them with pyarrow."""
    yield from _small_without_spark(folder, _decode_with_arrow)


@case("autoloader.small_20k_duckdb", goal=1.5)
@contextmanager
def small_20k_duckdb(folder: Path) -> Iterator[Sides]:
    """The same; the peer is DuckDB."""
    yield from _small_without_spark(folder, _decode_with_duckdb)


def _small_without_spark(folder: Path, decode: Callable[[Path, Path], None]) -> Iterator[Sides]:
    """Many small files; the peer decodes them into a Parquet file and commits it to a Delta table.

    It records no file as loaded, and rescues nothing.
    """
    files = 20_000

    def peer() -> Path:
        table = folder / f"out-{uuid.uuid4().hex[:8]}" / "table"
        (table / "_delta_log").mkdir(parents=True)
        decode(b.source, table / "part-00000.parquet")
        _commit_file(table, "part-00000.parquet")
        return table

    with bench(folder) as b:
        small_files(b.source, range(files))
        total = files * (files - 1) // 2
        yield b.sides(lambda: b.ours("json", SMALL_SCHEMA), peer, rows=files, total=total)


def _decode_with_arrow(source: Path, file: Path) -> None:
    import pyarrow as pa
    from pyarrow import json as arrow_json
    from pyarrow import parquet

    content = bytearray()
    for folder, _, names in os.walk(source):
        for name in names:
            with open(f"{folder}/{name}", "rb") as each:  # noqa: PTH123  # thrice as fast
                content += each.read()
    wanted = pa.schema([("id", pa.int64()), ("device", pa.string()), ("rate", pa.float64())])
    options = arrow_json.ParseOptions(explicit_schema=wanted)
    parquet.write_table(arrow_json.read_json(pa.BufferReader(content), parse_options=options), file)


def _decode_with_duckdb(source: Path, file: Path) -> None:
    import duckdb

    columns = "{id: 'BIGINT', device: 'VARCHAR', rate: 'DOUBLE'}"
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT * FROM read_json('{source}/**/*.json', format = 'newline_delimited', "  # noqa: S608
            f"columns = {columns})) TO '{file}' (FORMAT parquet)"
        )


def _commit_file(table: Path, name: str) -> None:
    """Create a Delta table that has a file of SMALL_SCHEMA."""
    kinds = {"id": "long", "device": "string", "rate": "double"}
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in kinds.items()]
    schema = json.dumps({"type": "struct", "fields": fields})
    metadata = {"id": uuid.uuid4().hex, "format": {"provider": "parquet", "options": {}}}
    added = {"path": name, "partitionValues": {}, "size": (table / name).stat().st_size}
    actions = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": {**metadata, "schemaString": schema, "partitionColumns": [], "configuration": {}}},
        {"add": {**added, "modificationTime": 0, "dataChange": True}},
    ]
    log = table / "_delta_log" / f"{0:020}.json"
    log.write_text("\n".join(json.dumps(action) for action in actions))


@case("autoloader.small_200k", goal=0.3, warmups=0)
@contextmanager
def small_200k(folder: Path) -> Iterator[Sides]:
    """The same with 200,000; one round is enough (`--rounds 1`)."""
    yield from _small(folder, 200_000)


def _json_file(file: int, records: int) -> str:
    return "".join(
        f'{{"id": {n}, "device": "device-{n % 9973}", "rate": {60 + n % 100}.25, "ok": true, '
        f'"at": "2024-03-0{1 + n % 9}T12:{n % 60:02}:07Z", '
        f'"place": {{"lat": {n % 90}.12345, "lon": {n % 180}.54321, "name": "Zürich {n % 500}"}}, '
        f'"tags": ["a{n % 7}", "b{n % 11}"]}}\n'
        for n in range(file * records, (file + 1) * records)
    )


def _big_json(b: Bench) -> int:
    """200 files of together 137 MB; gives the number of records."""
    records = 3_600
    for file in range(200):
        (b.source / f"{file:03}.json").write_text(_json_file(file, records))
    return 200 * records


@case("autoloader.big_json", goal=0.8)
@contextmanager
def big_json(folder: Path) -> Iterator[Sides]:
    """Large JSON files with types; ours rescues what does not fit."""
    with bench(folder) as b:
        rows = _big_json(b)
        yield b.sides(
            lambda: b.ours("json", BIG_SCHEMA, **RESCUE), lambda: b.peer("json", BIG_SCHEMA), rows=rows
        )


@case("autoloader.big_json_strings", goal=1.0)
@contextmanager
def big_json_strings(folder: Path) -> Iterator[Sides]:
    """The same files as strings: ours infers them (its default mode), the peer is told."""
    schema = ", ".join(f"{name} string" for name in ("at", "device", "id", "ok", "place", "rate", "tags"))
    with bench(folder) as b:
        rows = _big_json(b)
        yield b.sides(lambda: b.ours("json", None), lambda: b.peer("json", schema), rows=rows)


@case("autoloader.csv", goal=0.8)
@contextmanager
def csv(folder: Path) -> Iterator[Sides]:
    """100 CSV files with a header, 150 MB; ours goes by name and rescues."""
    records = 20_000
    with bench(folder) as b:
        for file in range(100):
            body = "".join(
                f"{n},device-{n % 9973},{60 + n % 100}.25,2024-03-0{1 + n % 9} 12:{n % 60:02}:07,"
                f'{n % 100_000}.37,"a note, of {n % 777}"\n'
                for n in range(file * records, (file + 1) * records)
            )
            (b.source / f"{file:03}.csv").write_text(f"id,device,rate,at,amount,note\n{body}")
        yield b.sides(
            lambda: b.ours("csv", CSV_SCHEMA, header="true", **RESCUE),
            lambda: b.peer("csv", CSV_SCHEMA, header="true"),
            rows=100 * records,
        )


@case("autoloader.parquet", goal=1.05, warmups=1)
@contextmanager
def parquet(folder: Path) -> Iterator[Sides]:
    """50 Parquet files, 500 MB."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    records = 455_000
    random = np.random.default_rng(5)
    with bench(folder) as b:
        for file in range(50):
            table = pa.table(
                {
                    "id": np.arange(file * records, (file + 1) * records),
                    "a": random.random(records),
                    "b": random.random(records),
                    "device": pa.array([f"d{n % 997}" for n in range(records)]),
                }
            )
            pq.write_table(table, b.source / f"{file:02}.parquet")
        yield b.sides(
            lambda: b.ours("parquet", PARQUET_SCHEMA, **RESCUE),
            lambda: b.peer("parquet", PARQUET_SCHEMA),
            rows=50 * records,
        )


@case("autoloader.avro", goal=1.05)
@contextmanager
def avro(folder: Path) -> Iterator[Sides]:
    """20 Avro files with together 1,000,000 records."""
    import fastavro

    types = {"id": "long", "a": "double", "device": "string", "ok": "boolean"}
    fields = [{"name": name, "type": ["null", dtype]} for name, dtype in types.items()]
    schema = fastavro.parse_schema({"type": "record", "name": "R", "fields": fields})
    records = 50_000
    with bench(folder) as b:
        for file in range(20):
            rows = (
                {"id": n, "a": n / 7, "device": f"device-{n % 997}", "ok": n % 3 == 0}
                for n in range(file * records, (file + 1) * records)
            )
            with (b.source / f"{file:02}.avro").open("wb") as out:
                fastavro.writer(out, schema, rows, codec="deflate")
        columns = "id bigint, a double, device string, ok boolean"
        yield b.sides(
            lambda: b.ours("avro", columns, **RESCUE), lambda: b.peer("avro", columns), rows=20 * records
        )


def _after(folder: Path, history: int, new: int) -> Iterator[Sides]:
    """`new` files behind a history of which 200,000 files still lie in the source."""
    there = 200_000
    with bench(folder) as b:
        small_files(b.source, range(1))
        for side, run in (("ours", b.ours), ("peer", b.peer)):
            table = run("json", SMALL_SCHEMA)
            b.seeds[side] = (table.parent / "checkpoint").rename(folder / f"seed-{side}")
        small_files(b.source, range(there))
        seed_ours(b.seeds["ours"], b.source, history)
        seed_peer(b.seeds["peer"], b.source, history)
        small_files(b.source, range(there, there + new))
        yield b.sides(lambda: b.ours("json", SMALL_SCHEMA), lambda: b.peer("json", SMALL_SCHEMA), rows=new)


@case("autoloader.increment_200k", goal=0.3)
@contextmanager
def increment_200k(folder: Path) -> Iterator[Sides]:
    """100 new files after 200,000."""
    yield from _after(folder, 200_000, 100)


@case("autoloader.increment_1m", goal=0.3)
@contextmanager
def increment_1m(folder: Path) -> Iterator[Sides]:
    """100 new files after 1,000,000, of which 200,000 are still there."""
    yield from _after(folder, 1_000_000, 100)


@case("autoloader.idle_200k", goal=0.3)
@contextmanager
def idle_200k(folder: Path) -> Iterator[Sides]:
    """A start with nothing new after 200,000."""
    yield from _after(folder, 200_000, 0)
