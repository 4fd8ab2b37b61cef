"""Runs of notebooks and pipelines whose cells are spelled as IPython accepts them."""

from __future__ import annotations

import pytest

from tests.notebooks.conftest import Desk
from tests.notebooks.test_ipython_syntax import CELLS, FORMS, content_of


@pytest.mark.parametrize("form", FORMS)
def test_a_notebook_runs_cells_in_every_spelling(desk: Desk, form: str) -> None:
    cells = []
    for name, (text, language, x) in CELLS.items():
        if language in ("sh", "fs") or "!" in text:
            continue
        in_sql = form.endswith("sql") and language == "python"
        cells.append(f"%python\n{text}" if in_sql and not text.lstrip().startswith(("%p", "%%t")) else text)
        if language == "python" and x is not None:
            cells.append(f"%python\nassert x == {x!r}, {name!r}\ndel x")
        elif language == "sql":
            cells.append("%python\nassert _sqldf.first().a == 1\ndel _sqldf")
    path = desk.folder / f"n.{form.rsplit(maxsplit=1)[-1]}"
    path.write_bytes(content_of(form, *cells))
    finished = desk.done(path)
    assert {cell.state for cell in finished.cells} == {"COMPLETED"}
    assert len(finished.cells) == len(cells)


def test_a_magic_without_support_is_named_with_those_that_have_it(desk: Desk) -> None:
    for text in ("%nosuch here", "x = 1\n%nosuch here"):
        path = desk.folder / "n.py"
        path.write_bytes(content_of("py", text))
        error = desk.run(path).error
        assert error is not None and error.condition == "MAGIC_NOT_SUPPORTED"
        assert "%nosuch" in error.message and "%pip" in error.message and "%sql" in error.message


def test_statements_use_widgets_that_statements_before_them_declare(desk: Desk) -> None:
    path = desk.folder / "n.py"
    widgets = "; ".join(
        f"CREATE WIDGET TEXT w{at} DEFAULT '{at}'; SELECT assert_true(:w{at} = '{at}')" for at in range(3)
    )
    path.write_bytes(
        content_of("marked py", f"%sql\n{widgets}; SELECT :w0 || :w1 || :w2 AS a", "%python _sqldf.first().a")
    )
    assert desk.done(path).cells[-1].outputs[0]["data"]["text/plain"] == "'012'"
