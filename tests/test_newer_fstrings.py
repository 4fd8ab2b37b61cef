"""f-strings of Python 3.12 are compiled on older versions: spellings × ways in which code is started."""

from __future__ import annotations

import ast
import builtins
import importlib
import json
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakeward.databricks_shims import use_surroundings
from lakeward.newer_fstrings import parse_newer, read_newer, stop_reading_newer
from lakeward.notebooks import Compiler, load_notebook

NAMES = {"d": {"a": "x", "b": 7}, "rows": ["p", "q"], "n": 2}
CASES = {
    "same quotes": ("""f"{d["a"]}." """, "x."),
    "raw": (r"""rf"\d{d["a"]}" """, r"\dx"),
    "backslash": (r"""f"{'\n'.join(rows)}" """, "p\nq"),
    "nested": ("""f"{f"{f"{n}"}"}" """, "2"),
    "nested in other quotes": ("""f"{f'{d['a']}'}" """, "x"),
    "triple quotes": ('''f"""{d["a"]} {"""b"""} c""" ''', "x b c"),
    "lines": ('f"a {\n  n\n} c {d["b"]}" ', "a 2 c 7"),
    "lines, raw": ('rf"a {\n  n\n}\\c" "e"', "a 2\\ce"),
    "comment": ("f'''{\n  n  # \"\n}''' ", "2"),
    "specification": ("""f"{d["b"]:>{d["b"]}}|" """, "      7|"),
    "specification with an escape": (r"""f"{d["b"]:\x3e3}" """, "  7"),
    "conversion": ("""f"{d["a"]!r:>5}" """, "  'x'"),
    "debugging": ("""f"{ d["a"] = }" """, """ d["a"] = 'x'"""),
    "debugging with a conversion": ("""f"{d["a"]=!s}" """, """d["a"]=x"""),
    "debugging with a specification": ("""f"{d["b"]=:03}" """, """d["b"]=007"""),
    "comparison": ("""f"{d["b"] != n}{d["b"]==7}{d["b"]<=7}" """, "TrueTrueTrue"),
    "dictionary": ("""f"{ {"a": 1}["a"] }" """, "1"),
    "lambda": ("""f"{(lambda y: y["a"])(d)}" """, "x"),
    "assignment": ("""f"{(y := d["b"])}" """, "7"),
    "doubled braces": ("""f"{{{d["a"]}}}" """, "{x}"),
    "name of a character": (r"""f"\N{EM DASH}{d["a"]}" """, "—x"),
    "strings in a row": ("""f"{n}{d["a"]}" "-{}" f'{d['b']}' """, "2x-{}7"),
    "several of them": ("""[f"{d["a"]}" for _ in rows] + [f"{d["b"]}" if f"{n}" else 0]""", ["x", "x", "7"]),
}
older_python = pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")


@pytest.fixture
def inside() -> Iterator[None]:
    with use_surroundings():
        yield


def source_of(text: str) -> str:
    """Return a file whose last line tells the line that a traceback would name."""
    return f"import inspect\n_ = 'user'\nresult = ({text})\nline = inspect.currentframe().f_lineno\n"


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("way", ["compile", "run_path", "import", "n.py", "n.ipynb"])
def test_the_value_and_the_lines_are_those_of_python_3_12(
    name: str, way: str, inside: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, expected = CASES[name]
    source, names = source_of(text), dict[str, Any](NAMES)
    if way == "compile":
        exec(compile(source, "f.py", "exec"), names)
    elif way == "run_path":
        (tmp_path / "task.py").write_text(source)
        names = runpy.run_path(str(tmp_path / "task.py"), init_globals=names)
    elif way == "import":
        (tmp_path / "newer_module.py").write_text(f"from builtins import *\n{source}".replace("\n", "; ", 1))
        monkeypatch.syspath_prepend(tmp_path)
        for key, value in NAMES.items():
            monkeypatch.setattr(builtins, key, value, raising=False)
        monkeypatch.delitem(sys.modules, "newer_module", raising=False)
        names = vars(importlib.import_module("newer_module"))
        del sys.modules["newer_module"]
    else:
        content = (
            json.dumps({"cells": [{"cell_type": "code", "source": source}], "metadata": {}})
            if way == "n.ipynb"
            else f"# Databricks notebook source\n{source}"
        )
        (tmp_path / way).write_text(content)
        _, notebook = load_notebook(tmp_path / way)
        for cell in notebook.cells:
            exec(Compiler().compile(notebook, cell, way).body, names)
    assert names["result"] == expected
    assert names["line"] == source.count("\n") + (way == "n.py")


@older_python
def test_outside_of_user_code_python_is_unchanged(inside: None) -> None:
    stop_reading_newer()
    try:
        with pytest.raises(SyntaxError):
            compile("""f"{d["a"]}" """, "f.py", "eval")
    finally:
        read_newer()
    compile("""f"{d["a"]}" """, "f.py", "eval")


@older_python
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("""x = f"{d["a"]}"\ny = = 2\n""", 2),
        ("""x = f"{d["a"] b}"\n""", 1),
        ("""\nx = f"{d["a"]} {\n  c["d"] e}"\n""", 3),
        ("""x = f"{d["a"]!z}"\n""", 1),
    ],
)
def test_errors_of_the_source_stay_errors(text: str, line: int, inside: None) -> None:
    with pytest.raises(SyntaxError) as raised:
        compile(text, "f.py", "exec")
    error = raised.value
    assert (error.lineno, error.filename) == (line, "f.py")
    assert error.text == text.split("\n")[line - 1]
    assert error.__cause__ is None and error.__suppress_context__, "Python 3.11 refuses the quotes"


def test_the_caller_s_future_features_are_inherited(inside: None) -> None:
    text = """exec(compile("def f(x: no_name): pass", "g", "exec"))"""
    names: dict[str, Any] = {}
    exec(compile(f"from __future__ import annotations\n{text}", "h", "exec", dont_inherit=True), names)
    assert names["f"].__annotations__ == {"x": "no_name"}
    code = compile(text, "h", "exec", dont_inherit=True)
    with pytest.raises(NameError):
        exec(code, {})


def test_columns_are_those_of_the_file() -> None:
    tree = parse_newer("""é = f"é{a["é"]} {bb["c"]}" + dd\n""")
    assert tree is not None
    places = {node.id: node.col_offset for node in ast.walk(tree) if isinstance(node, ast.Name)}
    text = """é = f"é{a["é"]} {bb["c"]}" + dd""".encode()
    assert (places["a"], places["bb"], places["dd"]) == (
        text.index(b"a["),
        text.index(b"bb"),
        text.index(b"dd"),
    )
