"""The SQL front end against Spark's own parser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.registry import Sides, case

CORPUS = Path(__file__).parents[2] / "tests" / "sql" / "corpus"


def statements() -> list[str]:
    """The statements of the corpus."""
    from tests.sql.corpus_file import cases

    return [case.text for path in sorted(CORPUS.glob("*.sql")) for case in cases(path)]


@case("sql.front_end", goal=1.5)
@contextmanager
def front_end(folder: Path) -> Iterator[Sides]:
    """Every statement of the corpus parsed by the session's parser, and by the parser that is behind it.

    The peer refuses what only the front end knows, which costs it less than an answer would.
    """
    import lakeward.session as lw

    spark = lw.session(lw.Settings.here(folder / "state", environ={}))
    session: Any = spark._jsparkSession
    parser = session.sessionState().sqlParser()
    texts = statements()

    def parse(by: Any) -> int:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        for text in texts:
            try:
                by.parsePlan(text)
            except (PySparkException, Py4JJavaError):
                continue  # some statements are there to fail
        return len(texts)

    yield Sides(lambda: parse(parser), lambda: parse(parser.sparks()))
