"""Syntax of the runtime's Python is advice if the Python at hand is older, and an error if not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lakeward.check import check

SYNTAX = {
    "backslash": ("""x = f"{'\\n'.join(rows)}"\n""", (3, 12)),
    "same quotes": ("""x = f"{d["a"]}"\n""", (3, 12)),
    "same quotes in brackets": ("""x = (f"{d["a"]}"\n)\n""", (3, 12)),
    "escaped quotes": ("""x = f"v = '{s.replace("'", "\\'")}'"\n""", (3, 12)),
    "generator": ("""x = f"{', '.join(f'{n["a"]}' for n in rows)}"\n""", (3, 12)),
    "lines": ("""x = f"a {\n    s\n} b"\n""", (3, 12)),
    "comment": ("""x = f'''{\n  s  # why\n}'''\n""", (3, 12)),
    "specification": ("""x = f"{s:{w["a"]}}"\n""", (3, 12)),
    "type alias": ("type X = int\n", (3, 12)),
    "generic function": ("def f[T](x: T) -> T:\n    return x\n", (3, 12)),
    "generic class": ("class A[T]:\n    pass\n", (3, 12)),
    "template string": ("""x = t"{d}"\n""", (3, 14)),
}
FORMS = ("f.py", "n.py", "n.ipynb")


def write(folder: Path, form: str, text: str) -> None:
    if form == "n.ipynb":
        content = json.dumps({"cells": [{"cell_type": "code", "source": text}], "metadata": {}})
    else:
        content = ("# Databricks notebook source\n" if form == "n.py" else "") + text
    (folder / form).write_text(content)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SYNTAX)
@pytest.mark.parametrize("runtime", ["13.3", "15.4", "16.4", "19.3", "serverless"])
def test_newer_syntax_is_advice_if_the_runtime_reads_it(
    name: str, form: str, runtime: str, tmp_path: Path
) -> None:
    text, needed = SYNTAX[name]
    if sys.version_info >= needed:
        pytest.skip("this Python reads it")
    write(tmp_path, form, text)
    report = check(tmp_path, profile=runtime, environ={})
    advice = [(each.verdict, each.construct) for each in report.findings if "syntax" in each.construct]
    if needed == (3, 12) and runtime in ("16.4", "19.3", "serverless"):
        is_string = "{" in text
        assert advice == ([] if is_string else [("differs", "Python 3.12 syntax")])
        assert is_string or runtime in report.findings[0].cure
        assert report.unread == ()
        assert sum(report.files.values()) == 1
    else:
        assert advice == []
        assert len(report.unread) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "text", ["x = = 2\n", """x = f"{d}" y\n""", """x = f"{d\n""", "def f(:\n", "class A B:\n", "type X\n"]
)
def test_an_error_in_every_python_stays_an_error(text: str, form: str, tmp_path: Path) -> None:
    write(tmp_path, form, text)
    report = check(tmp_path, profile="19.3", environ={})
    assert len(report.unread) == 1 and report.findings == ()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_code_around_a_newer_f_string_is_looked_at(form: str, tmp_path: Path) -> None:
    write(tmp_path, form, """x = f"{d["a"]}"\ndf.rdd\n""")
    report = check(tmp_path, profile="16.4", environ={})
    places = {each.construct: (each.place.line, each.place.column) for each in report.findings}
    line = 3 if form == "n.py" else 2
    assert places["DataFrame.rdd"] == (line, 4)
    assert "Python 3.12 syntax" not in places and report.unread == ()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_an_error_behind_a_newer_f_string_stays_an_error(tmp_path: Path) -> None:
    write(tmp_path, "f.py", """x = f"{d["a"]}"\ny = = 2\n""")
    assert len(check(tmp_path, profile="16.4", environ={}).unread) == 1
