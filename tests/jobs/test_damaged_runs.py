"""Files of a stored run, damaged in every way: a repair names them, or there is no such run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lakeward.errors import ConfigurationError
from lakeward.jobs.run_history import load_previous_run

RUN = {
    "parameters": {"p": "1"},
    "repairs": 0,
    "values": [["a", "k", "1"]],
    "ended": {"a": ["SUCCESS", "", None]},
}
FILES = {"last": "j/runs/last", "run.json": "j/runs/7/run.json"}
DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "random": lambda file: file.write_bytes(bytes(range(1, 256))),
    "with NUL": lambda file: file.write_bytes(b"7\0"),
    "a list": lambda file: file.write_bytes(b"[1]"),
    "nested without end": lambda file: file.write_bytes(b"[" * 100_000),
    "another way": lambda file: file.write_text("../../elsewhere"),
    **{
        f"{field} of another type": lambda file, field=field: file.write_text(
            json.dumps({**RUN, field: [1, "x"]})
        )
        for field in RUN
    },
    "a pipe": lambda file: (file.unlink(), os.mkfifo(file)),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_run_is_named(tmp_path: Path, file: str, damage: str) -> None:
    place = tmp_path / FILES[file]
    (tmp_path / "j" / "runs" / "7").mkdir(parents=True)
    (tmp_path / FILES["run.json"]).write_text(json.dumps(RUN))
    (tmp_path / FILES["last"]).write_text("7")
    assert load_previous_run(tmp_path, "j", "last").values == {("a", "k"): "1"}
    DAMAGE[damage](place)
    with pytest.raises(ConfigurationError) as raised:
        load_previous_run(tmp_path, "j", "last")
    assert raised.value.condition in ("RUN_DAMAGED", "RUN_UNKNOWN")
    if raised.value.condition == "RUN_DAMAGED":
        assert str(place) in str(raised.value)
    else:
        assert damage in ("missing", "a folder", "a pipe", "a list") or file == "last"
