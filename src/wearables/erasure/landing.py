"""Lines of erased people in the files of the landing volume."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from wearables.erasure.removal import erased_by
from wearables.suppression import marked, moment, tokens_of

__all__ = ["clean_landing", "landed_matches"]

_HOUR = 3600.0


def landed_matches(spark: SparkSession, landing: Path, suppressed: DataFrame, key: str) -> DataFrame:
    """Return `file`, `subject` and number of `lines` that belong to erased people, archives included."""
    if not any(_delivered(landing)):
        return spark.createDataFrame([], "file STRING, subject STRING, lines BIGINT")
    lines = (
        spark.read.option("recursiveFileLookup", "true")
        .option("pathGlobFilter", "*.json*")
        .text(str(landing))
        .select("value", F.col("_metadata.file_name").alias("file"))
    )
    found = erased_by(marked(lines, F.col("value"), key), suppressed)
    return found.groupBy("file", "subject").agg(F.countDistinct("record").alias("lines"))


def clean_landing(landing: Path, files: set[str], erased: Mapping[str, datetime], key: str) -> int:
    """Rewrite `files`, by their names, without the lines of erased people; returns how many there were.

    A file keeps its name and is replaced in one step: Auto Loader takes no file twice. What a crash of the
    task `land` has left is deleted.
    """
    for file in landing.rglob(".*.unfinished"):
        if file.stat().st_mtime < time.time() - _HOUR:
            file.unlink()
    return sum(
        _clean(file, lambda line: _is_erased(line, erased, key))
        for file in _delivered(landing)
        if file.name in files
    )


def _delivered(landing: Path) -> Iterator[Path]:
    for pattern in ("*.json", "*.json.gz"):
        yield from (file for file in landing.rglob(pattern) if not file.name.startswith((".", "_")))


def _is_erased(line: str, erased: Mapping[str, datetime], key: str) -> bool:
    limits = [erased[each] for each in tokens_of(line, key) if each in erased]
    sent = moment(line)
    if not limits or sent is None:
        return bool(limits)
    return sent <= max(limit.astimezone(timezone.utc).timestamp() for limit in limits)


def _clean(file: Path, is_erased: Callable[[str], bool]) -> int:
    content = file.read_bytes()
    lines = (gzip.decompress(content) if file.suffix == ".gz" else content).splitlines(keepends=True)
    kept = [line for line in lines if not is_erased(line.decode(errors="replace"))]
    if len(kept) == len(lines):
        return 0
    rest = b"".join(kept)
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        with unfinished.open("wb") as copy:
            copy.write(gzip.compress(rest, mtime=0) if file.suffix == ".gz" else rest)
            copy.flush()
            os.fsync(copy.fileno())
        unfinished.replace(file)
    except BaseException:
        # A full disk needs the space, and the next attempt writes the file again.
        unfinished.unlink(missing_ok=True)
        raise
    return len(lines) - len(kept)
