"""Cell text as IPython reads it: leading indent, line magics, automagic, and cell magics.

Source: https://github.com/ipython/ipython/blob/main/IPython/core/inputtransformer2.py (`leading_indent`,
`EscapedCommand`) and `prefilter.py` (`AutoMagicChecker`).
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

SETTINGS = (
    *("matplotlib", "load_ext", "reload_ext", "unload_ext", "autoreload", "aimport", "config", "rehashx"),
    *("xmode", "pdb", "colors", "precision"),
)
"""Line magics that set up IPython: how it loads modules, shows values and reports errors."""

LINE_MAGICS = frozenset(
    (
        *("pip", "conda", "run", "env", "set_env", "time", "timeit"),
        *("restart_python", "cd", "pwd", "ls", "who", "whos", "tensorboard"),
        *SETTINGS,
    )
)
"""Magics that take one line: other lines of their cell are code."""

_ALONE = frozenset(("pip", "conda", "run", "restart_python", "ls", "cd", "pwd", "who", "whos", "tensorboard"))
# Databricks itself reads %run at the start of a cell; IPython never sees it, so it has no automagic.
_AUTOMAGIC = LINE_MAGICS - {"run"}

MARK = re.compile(r"^(?:#|--|//) (?:Databricks notebook source|DBTITLE \d+,.*)\s*$")
"""Lines of a source file that do not belong to the cell's text."""

_NAMED = re.compile(r"%%?([A-Za-z][\w-]*)[ \t]*")
_TARGET = r"(?P<target>[A-Za-z_][\w.,\[\]'\" \t]*?)[ \t]*=[ \t]*"
_LINE = re.compile(
    rf"^(?P<indent>[ \t]*)(?:%%?(?P<name>[A-Za-z][\w-]*)|(?P<shell>(?:{_TARGET})?!))[ \t]*(?P<text>.*)$"
)
_ANY_LINE = re.compile(r"^[ \t]*(?:%%?[A-Za-z]|!|[A-Za-z_][^\n=]*=[ \t]*!)", re.MULTILINE)
_WORDS = re.compile(r"^([A-Za-z_]\w*)(?:[ \t]+(.*))?$", re.DOTALL)
_INDENT = re.compile(r"[ \t]*")
_TOKEN = re.compile(
    r"""#[^\n]*
    | \"\"\"[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:\"\"\")?
    | '''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:''')?
    | "[^"\\\n]*(?:\\.[^"\\\n]*)*"? | '[^'\\\n]*(?:\\.[^'\\\n]*)*'?
    | \\\n | [()\[\]{}] | \n""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class LineMagic:
    """A magic on a line of Python code.

    `line` counts from 1 in the cell, and `lines` is how many lines it takes: those that end with a backslash
    continue. `code` is an expression to prefer while its first name is a variable (automagic). The output is
    assigned to `target` (`files = !ls`).
    """

    name: str
    text: str
    line: int
    indent: str
    lines: int = 1
    code: str = ""
    target: str = ""


def read_cell(source: str, language: str) -> tuple[str, str, bool]:
    """Return the language of a cell, its source, and whether a magic names the language.

    The name of the magic is blanked out in the source. Cells that start with a line magic and continue with
    code are Python; `language` is that of cells without a magic.

    >>> read_cell("%sql select 1", "python")
    ('sql', '     select 1', True)
    >>> read_cell("%pip install a\\nimport a", "sql")[0]
    'python'
    """
    start = len(source) - len(source.lstrip())
    found = _NAMED.match(source, start)
    if found is None:
        return language, source, False
    name = found[1].lower()
    if name in LINE_MAGICS and (name not in _ALONE or "\n" in source.strip()):
        # Databricks reads %run itself; its path may be on the next line.
        lines = [line for line in source.splitlines() if line.strip()]
        if name != "run" or len(lines) != 2 or lines[0].strip().lstrip("%").lower() != "run":
            return "python", source, False
    blanked = source[:start] + " " * (found.end() - start) + source[found.end() :]
    return {"py": "python"}.get(name, name), blanked, True


def without_indent(source: str) -> str:
    """Remove the indent of the first line from every line that has it.

    >>> without_indent("    if x:\\n        y")
    'if x:\\n    y'
    """
    lines = source.split("\n")
    first = next((line for line in lines if line.strip() and not MARK.match(line)), "")
    found = _INDENT.match(first)
    indent = found[0] if found else ""
    return "\n".join(line.removeprefix(indent) for line in lines) if indent else source


def line_magics(source: str) -> Iterator[LineMagic]:
    """Yield the magics on lines where a statement may begin, not those in strings and open brackets.

    >>> [(m.name, m.text) for m in line_magics("x = (5\\n  %b)\\n%pip install a\\n!ls\\nx = !pwd")]
    [('pip', 'install a'), ('sh', 'ls'), ('sx', 'pwd')]
    """
    if _ANY_LINE.search(source) is None:
        automatic = _automagic(source)
        if automatic is not None:
            yield automatic
        return
    at, number, depth = 0, 1, 0
    while at < len(source):
        end = source.find("\n", at)
        found = _LINE.match(source[at : end if end >= 0 else len(source)]) if not depth else None
        if found is not None:
            text, lines = found["text"], 1
            while text.endswith("\\") and end >= 0:
                at, end = end + 1, source.find("\n", end + 1)
                text = text[:-1] + source[at : end if end >= 0 else len(source)].strip()
                lines += 1
            target = (found["target"] or "").rstrip()
            name = (found["name"] or ("sx" if target else "sh")).lower()
            yield LineMagic(name, text, number, found["indent"], lines, target=target)
            number += lines
        else:
            for token in _TOKEN.finditer(source, at):
                text, end = token[0], token.end() - 1
                number += text.count("\n")
                depth = max(0, depth + (text in "([{") - (text in ")]}"))
                if text == "\n":
                    break
            else:
                return
        if end < 0:
            return
        at = end + 1


def python_text(source: str, call: Callable[[LineMagic], str]) -> str:
    """Return the Python code of a cell: without its indent, and each line magic as `call` writes it.

    Lines keep their numbers. Behind `%python` on a line is code.
    """
    source = without_indent(source)
    lines = source.split("\n")
    for magic in line_magics(source):
        first = magic.line - 1
        lines[first : first + magic.lines] = [""] * magic.lines
        code = magic.text if magic.name in ("python", "py") else call(magic)
        lines[first] = f"{magic.indent}{magic.target} = {code}" if magic.target else f"{magic.indent}{code}"
    return "\n".join(lines)


def _automagic(source: str) -> LineMagic | None:
    """Return the magic without `%` that a cell of one line is; IPython does the same for one line only."""
    code = [
        (number, line)
        for number, line in enumerate(source.split("\n", 8), start=1)
        if line.strip() and not MARK.match(line)
    ]
    if len(code) != 1:
        return None
    number, line = code[0]
    found = _WORDS.match(line.rstrip())
    if found is None or found[1] not in _AUTOMAGIC or (found[2] or "")[:1] in ("=", ","):
        return None
    expression = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expression = ast.unparse(ast.parse(line.strip(), mode="eval"))
    except SyntaxError:
        pass
    return LineMagic(found[1], found[2] or "", number, "", code=expression)
