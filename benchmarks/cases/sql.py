"""The SQL front end against Spark's own parser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.registry import Sides, case
from lakeward.spark_internals import java_session

CORPUS = Path(__file__).parents[2] / "tests" / "sql" / "corpus"


def statements() -> list[str]:
    """The statements of the corpus."""
    from tests.sql.corpus_file import cases

    return [case.text for path in sorted(CORPUS.glob("*.sql")) for case in cases(path)]


def parses(parser: Any, text: str) -> bool:
    """Whether this parser takes the text."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        parser.parsePlan(text)
    except (PySparkException, Py4JJavaError):
        return False
    return True


@case("sql.front_end", goal=1.2)
@contextmanager
def front_end(folder: Path) -> Iterator[Sides]:
    """The statements of the corpus that Spark parses, by the session's parser and by the one behind it."""
    import lakeward.session as lw

    spark = lw.session(lw.Settings.here(folder / "state", environ={}))
    session: Any = java_session(spark)
    parser = session.sessionState().sqlParser()
    texts = [text for text in statements() if parses(parser.sparks(), text)]

    def parse(by: Any) -> int:
        for _ in range(10):
            for text in texts:
                by.parsePlan(text)
        return len(texts)

    def figures() -> dict[str, float]:
        """The call from Python to the JVM is in it."""
        times = []
        for text in texts:
            begin = time.perf_counter()
            parser.parsePlan(text)
            times.append(time.perf_counter() - begin)
        return {"statements": len(texts), "median_ms": 1000 * median(times)}

    yield Sides(lambda: parse(parser), lambda: parse(parser.sparks()), figures=figures)
