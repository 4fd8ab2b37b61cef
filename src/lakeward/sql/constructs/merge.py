"""MERGE with `* EXCEPT`, which Spark and Delta lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import quote_identifier, quote_name
from lakeward.sql.construct import Command, Construct, Edit, apply_edits
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class StarExcept:
    """`* EXCEPT (columns)` of UPDATE SET or INSERT, with its position in the statement."""

    start: int
    end: int
    is_insert: bool
    excluded: list[str]

    def edit(self, columns: Sequence[str], source: str) -> Edit:
        """Return the assignments of the target's `columns` without the excluded ones."""
        excluded = {name.lower() for name in self.excluded}
        names = [quote_identifier(name) for name in columns if name.lower() not in excluded]
        values = [f"{source}.{name}" for name in names]
        if self.is_insert:
            return Edit(self.start, self.end, f"({', '.join(names)}) VALUES ({', '.join(values)})")
        assignments = [f"{name} = {value}" for name, value in zip(names, values, strict=True)]
        return Edit(self.start, self.end, ", ".join(assignments))


@dataclass(frozen=True)
class MergeExcept(Command):
    """Runs MERGE with the target's columns in the place of each `* EXCEPT`."""

    target: list[str]
    source: str
    stars: list[StarExcept]
    text: str

    def run(self, spark: SparkSession) -> DataFrame:
        columns = spark.table(quote_name(self.target)).columns
        edits = [star.edit(columns, quote_identifier(self.source)) for star in self.stars]
        return spark.sql(apply_edits(self.text, edits))


def _merge_except(cursor: TokenCursor) -> MergeExcept:
    first = cursor.next
    cursor.need("MERGE")
    assert first is not None
    cursor.words("WITH", "SCHEMA", "EVOLUTION")
    cursor.need("INTO")
    target = cursor.name()
    _alias(cursor, "USING")
    cursor.need("USING")
    source = _source_name(cursor)
    cursor.need("ON")
    stars = list(_stars(cursor, first.start))
    if not stars:
        raise Unmatched
    return MergeExcept(target, source, stars, cursor.text(0))


def _source_name(cursor: TokenCursor) -> str:
    """Read the source and its alias; return the name by which the clauses know it."""
    name = ""
    if cursor.words("("):
        depth = 1
        while depth:
            if cursor.next is None:
                raise Unmatched
            depth += {"(": 1, ")": -1}.get(cursor.next.text, 0)
            cursor.at += 1
    else:
        name = cursor.name()[-1]
    name = _alias(cursor, "ON") or name
    if not name:
        raise Unmatched
    return name


def _alias(cursor: TokenCursor, following: str) -> str:
    """Read an alias if one comes before the word `following`."""
    if cursor.words("AS"):
        return cursor.part()
    is_next = cursor.next is not None and cursor.next.word == following
    return "" if is_next else cursor.part()


def _stars(cursor: TokenCursor, origin: int) -> Iterator[StarExcept]:
    """Yield each `SET * EXCEPT (…)` and `INSERT * EXCEPT (…)`, with positions from `origin` on."""
    while (verb := cursor.next) is not None:
        cursor.at += 1
        begin = cursor.at
        if verb.word in ("SET", "INSERT") and cursor.words("*", "EXCEPT", "("):
            excluded = cursor.part_list()
            star, *_, closing = cursor.read(begin)
            yield StarExcept(star.start - origin, closing.end - origin, verb.word == "INSERT", excluded)


CONSTRUCTS = (
    Construct(
        name="MERGE … * EXCEPT",
        area="Tables",
        verdict="emulated",
        example="MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * EXCEPT (id)",
        note="the target's other columns, also with WITH SCHEMA EVOLUTION",
        starts=("MERGE",),
        statement=_merge_except,
    ),
)
