"""The files of a notebook's run show no secret, whatever characters it has."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from lakeward.dbutils import record_secret
from lakeward.notebooks import NotebookRun, write
from lakeward.notebooks.cell_errors import CellError
from lakeward.notebooks.display import represent
from lakeward.notebooks.recorder import CellRecord, Recorder, display_data
from tests.dbutils.test_redactor import MARKS, SECRETS

PLACES = (
    "stream",
    "display",
    "value",
    "html",
    "error",
    "source",
    "markdown",
    "title",
    "exit",
    "child",
)


def run_of(value: str, place: str) -> NotebookRun:
    """A run that shows `value` in one place."""
    cell = CellRecord(1, "python", "print(1)", state="COMPLETED")
    stream = {"output_type": "stream", "name": "stdout", "text": f"the value: {value}\n"}
    error = {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": f"bad {value}",
        "traceback": [f"{value}", f"E {value}"],
    }
    cells = {
        "stream": replace(cell, outputs=[stream]),
        "display": replace(cell, outputs=[display_data(represent([{"a": value, "b": 1}]))]),
        "value": replace(cell, outputs=[display_data(represent({"k": [value]}))]),
        "drawing": replace(cell, outputs=[display_data({"image/svg+xml": f"<svg>{value}</svg>"})]),
        "html": replace(cell, outputs=[display_data({"text/html": f"<b>{value}</b>"})]),
        "error": replace(cell, outputs=[error], state="FAILED"),
        "source": replace(cell, source=f"x = {value!r}\ny = '''{value}'''"),
        "markdown": CellRecord(1, "md", f"%md\nIt is\n\n    {value}"),
        "title": replace(cell, title=value),
    }  # fmt: skip
    run = NotebookRun(
        Path("/n/some.py"),
        "COMPLETED",
        value if place == "exit" else None,
        CellError(1, "E", value, "f:1", (value,)) if place == "error" else None,
        (cells.get(place, cell),),
        1.0,
    )
    return replace(run, cells=(cell,), children=(run_of(value, "stream"),)) if place == "child" else run


@pytest.mark.parametrize("place", PLACES)
def test_no_file_of_a_run_shows_a_secret(place: str, tmp_path: Path) -> None:
    for name, secret in SECRETS.items():
        if (place, name) == ("markdown", "long"):
            continue
        record_secret(secret.encode())
        run = run_of(secret, place)
        done = write(run, tmp_path / "out")
        assert done.exit_value == run.exit_value  # what `dbutils.notebook.run` gives its caller
        files = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
        assert len(files) == (4 if place == "child" else 2)
        for file in files:
            text = file.read_text()
            assert not [mark for mark in MARKS if mark in text], (name, file.name, text[-3000:])
        notebook = json.loads(Path(done.files["ipynb"]).read_text())
        assert notebook["cells"][0]["cell_type"] in ("code", "markdown")


def test_secrets_that_look_like_the_format_leave_the_format_whole(tmp_path: Path) -> None:
    secrets = ("output_type", "stream", "cells", '": "', "text/html", "data", "table", "iVBORw0KGgo")
    for secret in secrets:
        record_secret(secret.encode())
    run = run_of("x", "stream")
    run.cells[0].outputs.append(display_data({"text/plain": "data", "image/png": "iVBORw0KGgo="}))
    done = write(run, tmp_path)
    cell = json.loads(Path(done.files["ipynb"]).read_text())["cells"][0]
    assert [output["output_type"] for output in cell["outputs"]] == ["stream", "display_data"]
    assert cell["outputs"][1]["data"] == {"text/plain": "[REDACTED]", "image/png": "iVBORw0KGgo="}


def test_the_files_are_their_owner_s_alone(tmp_path: Path) -> None:
    done = write(run_of("x", "child"), tmp_path / "notebooks")
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "notebooks").rglob("*")}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert stat.S_IMODE(Path(done.files["html"]).parent.stat().st_mode) == 0o700


def test_a_secret_that_two_writes_print_is_redacted(tmp_path: Path) -> None:
    record_secret(b"Aq7a<&>Zq9z")
    recorder = Recorder()
    cell = CellRecord(1, "python", "print(1)", state="COMPLETED")
    recorder.cells.append(cell)
    with recorder.listening():
        print("Aq7a<", end="")
        print("&>Zq9z")
    run = replace(run_of("x", "stream"), cells=(cell,))
    for file in write(run, tmp_path).files.values():
        assert not [mark for mark in MARKS if mark in Path(file).read_text()]
