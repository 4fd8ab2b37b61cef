"""`applyInPandasWithState` keeps states of every type; PySpark 4.2 alone fails for arrays and maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The state's type, and the state after each of two batches with one row: made from the state before.
_STATES: dict[str, Callable[[Any], Any]] = {
    "bigint": lambda old: (old or 0) + 1,
    "array<bigint>": lambda old: [*(old if old is not None else []), 7],
    "map<string, bigint>": lambda old: {**dict(old or {}), f"Key{len(old or {})}": 1},
    "struct<someName: bigint>": lambda old: ((old[0] if old is not None else 0) + 1,),
    "array<struct<someName: bigint>>": lambda old: [*([(1,)] * (0 if old is None else len(old))), (1,)],
}


@pytest.mark.parametrize("kind", _STATES)
def test_a_state_keeps_its_value_between_batches(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    following = _STATES[kind]

    def update(key: Any, frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
        new = following(state.get[0] if state.exists else None)
        state.update((new,))
        size = new if isinstance(new, int) else new[0] if isinstance(new, tuple) else len(new)
        yield pd.DataFrame({"size": [str(size)]})

    source = str(tmp_path / "in")
    for _ in range(2):
        spark.range(1).write.mode("append").json(source)
        rows = spark.readStream.schema("id long").json(source).groupBy("id")
        sizes = rows.applyInPandasWithState(update, "size string", f"kept {kind}", "update", "NoTimeout")
        writer = sizes.writeStream.option("checkpointLocation", str(tmp_path / "state")).outputMode("update")
        found: list[str] = []
        writer = writer.foreachBatch(lambda batch, _: found.extend(row["size"] for row in batch.collect()))  # noqa: B023
        writer.trigger(availableNow=True).start().awaitTermination()
    assert found == ["2"]
