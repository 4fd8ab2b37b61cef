"""The auxiliary table of AUTO CDC: when its files are compacted (SDP-3.2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakeward.pipelines.autocdc.auxiliary_table import AuxiliaryTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("checksums", [True, False], ids=["with checksums", "without checksums"])
def test_many_files_are_scattered_until_they_are_rewritten(
    spark: SparkSession, tmp_path: Path, *, checksums: bool
) -> None:
    state = AuxiliaryTable(tmp_path / "side")

    def is_scattered() -> bool:
        if not checksums:
            for file in (tmp_path / "side" / "_delta_log").glob("*.crc"):
                file.unlink()
        return state.is_scattered(spark)

    assert not is_scattered()
    for number in range(2):
        state.add(spark.range(100).repartition(13), app="a feed", number=number)
        assert is_scattered() == (number == 1)
    state.rewrite(spark.range(100).coalesce(1))
    assert not is_scattered()
