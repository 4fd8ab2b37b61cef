"""Operations on columns with a collation × collations. The expected rows are Python's, by keys."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakeward.session import temporary_conf

SCHEMA = "main.operations_on_collations"
TEXTS = ["a", "A", "ä", "b", "B ", "b", "", None, "Z", "á"]
ROWS = [(number, text) for number, text in enumerate(TEXTS) if text is not None]


def _without_accents(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))


# Texts with the same key are equal. Those of Unicode have another order.
KEYS: dict[str, Callable[[str], str]] = {
    "UTF8_BINARY": str,
    "UTF8_BINARY_RTRIM": lambda text: text.rstrip(" "),
    "UTF8_LCASE": str.lower,
    "UTF8_LCASE_RTRIM": lambda text: text.lower().rstrip(" "),
    "UNICODE": str,
    "UNICODE_CI": str.lower,
    "UNICODE_AI": _without_accents,
    "UNICODE_CI_AI": lambda text: _without_accents(text.lower()),
}


class Table:
    """A table of the texts, and `parts`, the same with a file for each row."""

    def __init__(self, spark: SparkSession, collation: str) -> None:
        self.spark, self.key = spark, KEYS[collation]
        self.collation, self.schema = collation, f"{SCHEMA}_{collation.lower()}"
        if not spark.catalog.tableExists(f"{self.schema}.parts"):
            spark.sql(f"CREATE SCHEMA {self.schema}")
            self.create("t")
            rows = spark.table(f"{self.schema}.t").repartitionByRange(len(TEXTS), "id")
            rows.write.saveAsTable(f"{self.schema}.parts")

    def create(self, name: str) -> None:
        values = ", ".join(f"({n}, {'NULL' if t is None else repr(t)})" for n, t in enumerate(TEXTS))
        self.spark.sql(f"CREATE TABLE {self.schema}.{name} (id INT, s STRING COLLATE {self.collation})")
        self.spark.sql(f"INSERT INTO {self.schema}.{name} VALUES {values}")

    def rows(self, query: str) -> list[Any]:
        """Return the rows in an order of Python's; those of one column as values."""
        found = [tuple(row) for row in self.spark.sql(query.replace("{s}", self.schema)).collect()]
        return sorted((row[0] if len(row) == 1 else row for row in found), key=repr)

    def equal(self, text: str) -> list[int]:
        return [number for number, each in ROWS if self.key(each) == self.key(text)]


@pytest.fixture(params=KEYS)
def table(request: pytest.FixtureRequest, spark: SparkSession) -> Table:
    return Table(spark, request.param)


@pytest.mark.parametrize("name", ["t", "parts"])
def test_comparisons(table: Table, name: str) -> None:
    for text in ("A", "b", "B", "Á", "", "z"):
        assert table.rows(f"SELECT id FROM {{s}}.{name} WHERE s = '{text}'") == table.equal(text), text
        assert table.rows(f"SELECT id FROM {{s}}.{name} WHERE s <> '{text}'") == [
            number for number, _ in ROWS if number not in table.equal(text)
        ]
    either = sorted({*table.equal("A"), *table.equal("B")})
    many = ", ".join(f"'x{number}'" for number in range(20))
    for texts in ("'A', 'B'", f"'A', 'B', {many}"):
        assert table.rows(f"SELECT id FROM {{s}}.{name} WHERE s IN ({texts})") == either
        others = [number for number, _ in ROWS if number not in either]
        assert table.rows(f"SELECT id FROM {{s}}.{name} WHERE s NOT IN ({texts})") == others
    nested = f"SELECT id FROM {{s}}.{name} WHERE s IN (SELECT s FROM {{s}}.t WHERE id = 1)"
    assert table.rows(nested) == table.equal("A")


@pytest.mark.parametrize("hint", ["", "/*+ MERGE(x) */", "/*+ SHUFFLE_HASH(x) */", "/*+ BROADCAST(x) */"])
def test_joins(table: Table, hint: str) -> None:
    pairs = [(a, b) for a, one in ROWS for b, other in ROWS if table.key(one) == table.key(other)]
    join = f"SELECT {hint} x.id, y.id FROM {{s}}.t x JOIN {{s}}.parts y ON x.s"
    assert table.rows(f"{join} = y.s") == sorted(pairs, key=repr)
    null = TEXTS.index(None)
    assert table.rows(f"{join} <=> y.s") == sorted([*pairs, (null, null)], key=repr)
    one = "(SELECT s FROM {s}.t WHERE id = 1) y ON x.s = y.s"
    assert table.rows(f"SELECT {hint} x.id FROM {{s}}.t x LEFT SEMI JOIN {one}") == table.equal("A")
    rest = [number for number in range(len(TEXTS)) if number not in table.equal("A")]
    assert table.rows(f"SELECT {hint} x.id FROM {{s}}.t x LEFT ANTI JOIN {one}") == rest


def test_groups(table: Table) -> None:
    keys = [None if text is None else table.key(text) for text in TEXTS]
    counts = Counter(keys)
    assert table.rows("SELECT count(*) FROM {s}.t GROUP BY s") == sorted(counts.values(), key=repr)
    assert table.rows("SELECT count(DISTINCT s) FROM {s}.t") == [len(counts) - 1]
    for query, missing in (
        ("SELECT DISTINCT s FROM {s}.t", 0),
        ("SELECT s FROM {s}.t UNION SELECT s FROM {s}.parts", 0),
        ("SELECT s FROM {s}.t INTERSECT SELECT s FROM {s}.parts", 0),
        ("SELECT s FROM {s}.t EXCEPT SELECT s FROM {s}.parts WHERE id = 1", 1),
    ):
        assert len(table.rows(query)) == len(counts) - missing, query
    windows = [(number, counts[key]) for number, key in enumerate(keys)]
    assert table.rows("SELECT id, count(*) OVER (PARTITION BY s) FROM {s}.t") == windows


@pytest.mark.parametrize("name", ["t", "parts"])
def test_order(table: Table, name: str) -> None:
    if table.collation.startswith("UNICODE"):
        pytest.skip("the order of Unicode's collations is another one than that of their keys")
    keys = sorted(table.key(text) for _, text in ROWS)
    below = [number for number, text in ROWS if table.key(text) < table.key("b")]
    between = [number for number, text in ROWS if table.key("A") <= table.key(text) <= table.key("B")]
    starts = [number for number, text in ROWS if table.key(text).startswith(table.key("B"))]
    assert table.rows(f"SELECT id FROM {{s}}.{name} WHERE s < 'b'") == below
    assert table.rows(f"SELECT id FROM {{s}}.{name} WHERE s BETWEEN 'A' AND 'B'") == between
    assert table.rows(f"SELECT id FROM {{s}}.{name} WHERE startswith(s, 'B')") == starts
    ordered = table.spark.sql(f"SELECT s FROM {table.schema}.{name} WHERE s IS NOT NULL ORDER BY s").collect()
    assert [table.key(row.s) for row in ordered] == keys
    # Spark's interpreter, which these lanes use, keeps a pointer to a value that it overwrites: of max(s) the
    # last row's. The generated code, which sessions use, copies it.
    with temporary_conf(table.spark, {"spark.sql.codegen.factoryMode": "FALLBACK"}):
        lowest, highest = table.rows(f"SELECT min(s), max(s) FROM {{s}}.{name}")[0]
    assert (table.key(lowest), table.key(highest)) == (keys[0], keys[-1])


def test_changes(table: Table) -> None:
    table.create("changed")
    table.rows("UPDATE {s}.changed SET id = 100 WHERE s = 'B'")
    ids = [100 if number in table.equal("B") else number for number in range(len(TEXTS))]
    assert table.rows("SELECT id FROM {s}.changed") == sorted(ids, key=repr)
    table.rows("DELETE FROM {s}.changed WHERE s = 'A'")
    ids = [number for number in ids if number not in table.equal("A")]
    assert table.rows("SELECT id FROM {s}.changed") == sorted(ids, key=repr)
    merge = "MERGE INTO {s}.changed t USING (SELECT s FROM {s}.parts WHERE id IN (1, 8)) s ON t.s = s.s "
    new = "WHEN NOT MATCHED THEN INSERT (id, s) VALUES (9, s.s)"
    table.rows(f"{merge} WHEN MATCHED THEN UPDATE SET id = 7 {new}")
    ids = [7 if number in table.equal("Z") else number for number in ids] + [9]
    assert table.rows("SELECT id FROM {s}.changed") == sorted(ids, key=repr)
