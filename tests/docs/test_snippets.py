"""Code in pages can be read: Python, YAML, TOML and JSON by parsers, SQL by the splitter, shells by bash."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from lakeward.sql import split

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
STATEMENT = re.compile(
    r"(?i)(SELECT|WITH|CREATE|ALTER|DROP|INSERT|MERGE|UPDATE|DELETE|COPY|OPTIMIZE|VACUUM|USE|SET|REFRESH|EXPLAIN|DESCRIBE)\b"
)


def sql(text: str) -> None:
    statements = split(text)
    assert statements
    for each in statements:
        plain = re.sub(r"--[^\n]*\n", "", each).strip()
        assert STATEMENT.match(plain), plain
        assert plain.count("(") == plain.count(")"), plain


def shell(text: str) -> None:
    bash = shutil.which("bash")
    if bash is not None:
        done = subprocess.run([bash, "-n"], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


# `console` shows prompts and output; Auto Loader's `file` and `rows` are executed by a test of their own, and
# a mermaid graph is drawn by the site.
READERS: dict[str, Callable[[str], object]] = {
    "python": ast.parse,
    "yaml": lambda text: list(YAML(typ="safe").load_all(text)),
    "toml": tomllib.loads,
    "json": json.loads,
    "sql": sql,
    "sh": shell,
    "console": str,
    "file": str,
    "rows": str,
    "mermaid": str,
}
SNIPPETS = [
    pytest.param(language, code, id=f"{page.relative_to(ROOT)}:{text[: match.start()].count(chr(10)) + 1}")
    for page in PAGES
    for text in (page.read_text(encoding="utf-8"),)
    for match in BLOCK.finditer(text)
    for _, language, code in (match.groups(),)
]


@pytest.mark.parametrize(("language", "code"), SNIPPETS)
def test_a_snippet_can_be_read(language: str, code: str) -> None:
    lines = code.splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    READERS[language]("\n".join(line[indent:] for line in lines))


def test_there_are_snippets_of_each_language() -> None:
    assert {each.values[0] for each in SNIPPETS} == set(READERS)
