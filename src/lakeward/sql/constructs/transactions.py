"""Transactions over several statements and tables."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import quote_name
from lakeward.session import USER_METADATA, temporary_conf
from lakeward.sql.construct import (
    Command,
    Construct,
    Edit,
    Refusal,
    RewriteResult,
    apply_edits,
    in_area,
    unsupported,
)
from lakeward.sql.constructs.scripting import statement_diagnostics
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

_BEFORE_A_STATEMENT = (";", "ATOMIC", "BEGIN", "THEN", "ELSE", "DO")


@dataclass(frozen=True)
class AtomicBlock(Command):
    """Runs a SQL script; if it fails, restores the tables that it writes to the versions before it.

    Other sessions see each statement's changes at once, and a process that is killed leaves what it wrote.

    Attributes:
        script: The block as a script that Spark runs: without ATOMIC.
        tables: The tables that its statements write.
    """

    script: str
    tables: list[list[str]]

    def run(self, spark: SparkSession) -> DataFrame:
        """Return the result of the script's last query.

        Raises:
            SqlError: ATOMIC_ROLLBACK_CONFLICT: another writer changed a table during a block that failed.
        """
        before = {
            name: commits[0]["version"]
            for name in dict.fromkeys(map(quote_name, self.tables))
            if (commits := _history(spark, name, "LIMIT 1"))
        }
        previous = spark.conf.get(USER_METADATA, None)
        mark = f"transaction {uuid.uuid4()}"
        with temporary_conf(spark, {USER_METADATA: f"{previous} {mark}" if previous else mark}):
            try:
                return spark.sql(self.script)
            except Exception:
                spark.conf.set(USER_METADATA, f"rollback of {mark}")
                _roll_back(spark, before, mark)
                raise


def _history(spark: SparkSession, table: str, limit: str = "") -> list[Row]:
    """Return the commits of a Delta table, the newest first; none for anything else."""
    from pyspark.errors import PySparkException

    try:
        return spark.sql(f"DESCRIBE HISTORY {table} {limit}").collect()
    except PySparkException:
        return []


def _roll_back(spark: SparkSession, before: dict[str, int], mark: str) -> None:
    """Restore the tables; a table that another writer changed, too, is left as it is and named."""
    shared = []
    for table, version in before.items():
        commits = [commit for commit in _history(spark, table) if commit["version"] > version]
        if not commits:
            continue
        if all(str(commit["userMetadata"] or "").endswith(mark) for commit in commits):
            spark.sql(f"RESTORE TABLE {table} TO VERSION AS OF {version}")
        else:
            shared.append(f"{table} (version {version})")
    if shared:
        raise SqlError(
            "ATOMIC_ROLLBACK_CONFLICT",
            f"The block failed, and another writer changed tables that it had written: {', '.join(shared)}. "
            "They keep the changes of both.",
            sql_state="40000",
            next_step="DESCRIBE HISTORY shows the commits; RESTORE TABLE … TO VERSION AS OF undoes them.",
        )


def _atomic_block(cursor: TokenCursor) -> RewriteResult:
    """Parse BEGIN ATOMIC … END. Nested blocks are a part of the outer transaction."""
    begin = cursor.at
    cursor.need("BEGIN", "ATOMIC")
    cursor.finish()
    text = cursor.text(begin)
    tokens = cursor.read(begin)
    offset = tokens[0].start
    for one, other in pairwise(tokens):
        if (one.word, other.word) == ("BEGIN", "ATOMIC"):
            # Blanks keep the positions of errors.
            at = other.start - offset
            text = f"{text[:at]}{' ' * len(other.text)}{text[at + len(other.text) :]}"
    active = [edit for at in range(len(tokens)) for edit in statement_diagnostics(tokens, at, "true")]
    text = apply_edits(text, (Edit(each.start - offset, each.end - offset, each.text) for each in active))
    tables = []
    for at in _written([token.word for token in tokens]):
        name = TokenCursor(tokens[at:])
        if name.words("IDENTIFIER", "("):
            reason = (
                "BEGIN ATOMIC needs the names of the tables that it writes: IDENTIFIER is not supported here."
            )
            return Refusal("UNSUPPORTED_SQL", reason, "0A000")
        try:
            tables.append(name.name())
        except Unmatched:
            continue
    return AtomicBlock(text, tables)


def _written(words: list[str]) -> Iterator[int]:
    """Yield the positions at which the name of a table that a statement writes begins."""
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if word in ("INTO", "OVERWRITE") and before in ("INSERT", "MERGE", "EVOLUTION"):
            yield at + 1 + (words[at + 1 : at + 2] == ["TABLE"])
        elif (word == "FROM" and before == "DELETE") or (word == "TABLE" and before == "TRUNCATE"):
            yield at + 1
        elif word == "UPDATE" and before in _BEFORE_A_STATEMENT and words[at + 1 : at + 2] != ["SET"]:
            # MERGE has `WHEN MATCHED THEN UPDATE SET`, without a name.
            yield at + 1


CONSTRUCTS = in_area(
    "Transactions",
    Construct(
        name="BEGIN ATOMIC … END",
        example="BEGIN ATOMIC INSERT INTO t VALUES (1); DELETE FROM t WHERE id = 2; END",
        note="if a statement fails, RESTORE undoes those before it; other sessions see each statement at "
        "once, and a process that is killed leaves what it wrote",
        statement=_atomic_block,
        test="tests/sql/test_transactions.py",
    ),
    *(
        unsupported(words, example=words, starts=words, reason="use BEGIN ATOMIC … END.")
        for words in ("BEGIN TRANSACTION", "COMMIT", "ROLLBACK")
    ),
)
