"""Queries and scripts that Spark has by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lakeward.sql.construct import Construct, as_is
from lakeward.sql.outcome import Edit
from lakeward.sql.tokens import Token

__all__ = ["CONSTRUCTS"]

_AREA = "Queries and scripts"


def _at_version(tokens: Sequence[Token]) -> list[Edit]:
    """`t@v3` as `t VERSION AS OF 3`."""
    return [
        Edit(at.start, version.end, f" VERSION AS OF {version.text[1:]}")
        for table, at, version in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if at.text == "@"
        and table.is_name
        and table.end == at.start
        and at.end == version.start
        and re.fullmatch(r"[vV]\d+", version.text)
    ]


CONSTRUCTS = (
    as_is("Named parameters", _AREA, "SELECT :x", "`spark.sql(text, args={…})`"),
    as_is("Positional parameters", _AREA, "SELECT ?", "`spark.sql(text, args=[…])`"),
    as_is(
        "WITH RECURSIVE",
        _AREA,
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
    ),
    as_is("QUALIFY", _AREA, "SELECT id FROM range(5) QUALIFY row_number() OVER (ORDER BY id DESC) = 1"),
    as_is("GROUP BY ALL", _AREA, "SELECT id, count(*) FROM range(3) GROUP BY ALL"),
    as_is("ORDER BY ALL", _AREA, "SELECT id FROM range(3) ORDER BY ALL"),
    as_is("* EXCEPT", _AREA, "SELECT * EXCEPT (id) FROM (SELECT 1 AS id, 2 AS b)"),
    as_is("PIVOT, UNPIVOT", _AREA, "SELECT * FROM VALUES (1, 2) t(a, b) PIVOT (sum(a) FOR b IN (2))"),
    as_is("Pipes", _AREA, "FROM range(3) |> WHERE id > 1 |> SELECT id"),
    as_is("Session variables", _AREA, "DECLARE OR REPLACE VARIABLE v INT DEFAULT 5"),
    as_is("SET, RESET", _AREA, "SET spark.sql.shuffle.partitions = 4"),
    as_is("${conf}", _AREA, "SELECT '${spark.app.name}'", "a setting's value in the text, as Spark has it"),
    as_is("EXECUTE IMMEDIATE", _AREA, "EXECUTE IMMEDIATE 'SELECT 1 AS a'"),
    as_is("BEGIN … END", _AREA, "BEGIN DECLARE x INT DEFAULT 1; SELECT x; END"),
    as_is("Time travel", _AREA, "SELECT * FROM t VERSION AS OF 0"),
    Construct("t@v1", _AREA, "rewritten", "SELECT * FROM t@v0", "VERSION AS OF", edits=_at_version),
    as_is("table_changes", _AREA, "SELECT * FROM table_changes('t', 0)"),
)
