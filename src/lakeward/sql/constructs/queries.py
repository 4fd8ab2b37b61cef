"""Queries and scripts, nearly all of which Spark runs itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lakeward.sql.construct import Construct, Edit, supported
from lakeward.sql.token_cursor import Token

_AREA = "Queries and scripts"


def _at_version(tokens: Sequence[Token]) -> list[Edit]:
    """Rewrite `t@v3` as `t VERSION AS OF 3`."""
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
    supported("Named parameters", _AREA, "SELECT :x", "`spark.sql(text, args={…})`"),
    supported("Positional parameters", _AREA, "SELECT ?", "`spark.sql(text, args=[…])`"),
    supported(
        "WITH RECURSIVE",
        _AREA,
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
    ),
    supported("QUALIFY", _AREA, "SELECT id FROM range(5) QUALIFY row_number() OVER (ORDER BY id DESC) = 1"),
    supported("GROUP BY ALL", _AREA, "SELECT id, count(*) FROM range(3) GROUP BY ALL"),
    supported("ORDER BY ALL", _AREA, "SELECT id FROM range(3) ORDER BY ALL"),
    supported("* EXCEPT", _AREA, "SELECT * EXCEPT (id) FROM (SELECT 1 AS id, 2 AS b)"),
    supported("PIVOT, UNPIVOT", _AREA, "SELECT * FROM VALUES (1, 2) t(a, b) PIVOT (sum(a) FOR b IN (2))"),
    supported("Pipes", _AREA, "FROM range(3) |> WHERE id > 1 |> SELECT id"),
    supported("Session variables", _AREA, "DECLARE OR REPLACE VARIABLE v INT DEFAULT 5"),
    supported("SET, RESET", _AREA, "SET spark.sql.shuffle.partitions = 4"),
    supported("${conf}", _AREA, "SELECT '${spark.app.name}'", "Spark substitutes the setting's value"),
    supported("EXECUTE IMMEDIATE", _AREA, "EXECUTE IMMEDIATE 'SELECT 1 AS a'"),
    supported("BEGIN … END", _AREA, "BEGIN DECLARE x INT DEFAULT 1; SELECT x; END"),
    supported("Time travel", _AREA, "SELECT * FROM t VERSION AS OF 0"),
    Construct("t@v1", _AREA, "rewritten", "SELECT * FROM t@v0", "VERSION AS OF", edits=_at_version),
    supported("table_changes", _AREA, "SELECT * FROM table_changes('t', 0)"),
)
