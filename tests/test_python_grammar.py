"""f-strings of Python 3.12: they are found, replaced in place, and named in errors of every command."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import lakeward
from lakeward.jobs.attempts import attempt_error
from lakeward.notebooks.cell_errors import explain_error
from lakeward.pipelines.graph.error_location import with_source_location
from lakeward.python_grammar import newer_python_hint, older_source, own_compile, parse_quietly, python_needed

NEWER = {
    "same quotes": """f"{a["b"]}" """,
    "raw": r"""rf"\d{a["b"]}" """,
    "capitals": """FR"{a["b"]}" """,
    "backslash": r"""f"{'\n'.join(a)}" """,
    "nested": """f"{f"{f"{a}"}"}" """,
    "nested in other quotes": """f"{f'{a['b']}'}" """,
    "triple quotes": '''f"""a {"""b"""} c""" ''',
    "lines": 'f"a {\n  b\n} c {d}" ',
    "lines of a triple string": "f'''a {\n  b['''c''']\n} d''' ",
    "comment": "f'''{\n  a  # \"\n}''' ",
    "specification": """f"{a:{b["c"]}>{d}}" """,
    "conversion": """f"{a["b"]!r:>9}" """,
    "debugging": """f"{a["b"]=}" """,
    "dictionary": """f"{ {"a": 1}["a"] }" """,
    "lambda": """f"{(lambda x: x["a"])(b)}" """,
    "escaped brace": r"""f"\{a["b"]}" """,
    "doubled braces": """f"{{{a["b"]}}}" """,
    "name of a character": r"""f"\N{EM DASH}{a["b"]}" """,
    "behind a plain string": """'"' "\\"" f"{a["b"]}" """,
    "behind a comment": """# it's\nf"{a["b"]}" """,
    "behind a keyword": """x if"a" else f"{a["b"]}" """,
}

OLDER = (
    """f"{a['b']}" """,
    '''f"""{a["b"]} {"c"}""" ''',
    "f'''{\n  a\n}''' ",
    """f"{{a[\\"b\\"]}}" """,
    """f"{a:%H:%M} {b!r:>{w}}" """,
    """'{a["b"]}' """,
    """f"{'#'}" """,
    """f"{a != b}" """,
)

BROKEN = ("""f"{a["b"]" """, """f"{a["b" """, """f"{a)}" """, """f"{a["b"]}""", "x = 'a\n")

older_python = pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")


@pytest.mark.parametrize("text", NEWER.values(), ids=NEWER)
def test_a_newer_f_string_is_replaced_in_place(text: str) -> None:
    source = f"before = 1\nx = ({text}, y)\nz = 2\n"
    older = older_source(source)
    assert older is not None
    tree = parse_quietly(older)
    assert [(each.lineno, ast.unparse(each)) for each in tree.body][-1] == (source.count("\n"), "z = 2")
    name = next(each for each in ast.walk(tree) if isinstance(each, ast.Name) and each.id == "y")
    lines = source.split("\n")
    assert lines[name.lineno - 1][name.col_offset] == "y"


@older_python
@pytest.mark.parametrize("text", NEWER.values(), ids=NEWER)
def test_it_needs_python_3_12(text: str) -> None:
    source = f"x = ({text}, y)\n"
    with pytest.raises(SyntaxError) as raised:
        parse_quietly(source)
    assert python_needed(source, raised.value) == (3, 12)
    assert python_needed(source.encode(), raised.value) == (3, 12)


@pytest.mark.parametrize("text", OLDER)
def test_what_older_versions_read_is_left_alone(text: str) -> None:
    ast.parse(f"x = {text}")
    assert older_source(f"x = {text}") is None


@pytest.mark.parametrize("text", BROKEN)
def test_an_unfinished_string_is_left_alone(text: str) -> None:
    assert older_source(text) is None


def test_no_file_of_lakeward_needs_a_newer_python() -> None:
    files = sorted(Path(lakeward.__file__).parent.rglob("*.py"))
    assert len(files) > 100
    assert [file for file in files if older_source(file.read_text(encoding="utf-8")) is not None] == []


def syntax_error(file: Path, text: str) -> SyntaxError:
    file.write_text(text)
    with pytest.raises(SyntaxError) as raised:
        own_compile(text, str(file), "exec")
    return raised.value


NESTED = """import os\n\nx = f"{os.environ["HOME"]}"\n"""


@older_python
def test_every_command_names_the_python_that_reads_a_file(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    error = syntax_error(file, NESTED)
    shown = (
        explain_error(error, 1, file=str(file), line=1, files=()).message,
        attempt_error(error, tmp_path),
        str(with_source_location(error, what="the file", folders=())),
    )
    for each in shown:
        assert "Run lakeward with Python 3.12 or later." in each
        assert "Databricks Runtime 16" in each


@older_python
@pytest.mark.parametrize("text", ["x = = 1\n", """x = f"{d["a"]}"\n\n\n\ny = = 1\n""", "x = 'a\n"])
def test_an_error_of_its_own_has_no_such_hint(text: str, tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text(text)
    error = SyntaxError("invalid syntax", (str(file), text.count("\n"), 5, text.splitlines()[-1]))
    assert newer_python_hint(error) == ""


def test_an_error_without_a_file_has_no_hint() -> None:
    assert newer_python_hint(SyntaxError("invalid syntax")) == ""
