"""Every block of code in the pages has a language, and is checked as that language can be.

| language | check |
|---|---|
| `sh` | bash reads it; `lakeward` has each command with these options, `make` each target |
| `python`, `yaml`, `toml`, `json` | a parser reads it |
| `sql` | the splitter reads it |
| `console` | none: prompts and output |
| `file`, `rows` | `tests/autoloader` executes them |
| `mermaid` | the site draws it |

`tests/docs/test_execution.py` executes the commands of the quick start, and SQL and tests of pages.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click
import pytest
from ruamel.yaml import YAML

from lakeward.cli.main import lakeward
from lakeward.sql import split

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`((?:lakeward|make) [^`\n]+)`(?!`)")
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


def commands(text: str) -> list[list[str]]:
    """Return the calls of `lakeward` and `make` in a shell text, with their arguments."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        # Not the folder of `pip install ./lakeward`.
        for match in re.finditer(r"(?:^|[\s(]|/bin/)(lakeward|make) ([^|&;)>]*)", line):
            before = line[: match.start()].split()
            if before[-1:] not in (["clone"], ["REPOSITORY"], ["--tag"]):
                found.append([match[1], *shlex.split(match[2], comments=True)])
    return found


def parse_command(program: str, arguments: list[str]) -> None:
    """Parse a call as its program does, and run nothing. Raises click.UsageError for what it refuses."""
    if program == "make":
        targets = [each for each in arguments if "=" not in each]
        assert all(re.search(rf"^{each}:", MAKEFILE, re.MULTILINE) for each in targets), arguments
        return
    command: click.Command = lakeward
    context = None
    name: str | None = "lakeward"
    while True:
        context = command.make_context(name, arguments, parent=context, obj=arguments)
        if not isinstance(command, click.Group):
            return
        if context.params.get("version"):
            return
        name, found, arguments = command.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None
        command = found


def shell(text: str) -> None:
    for program, *arguments in commands(text):
        parse_command(program, arguments)
    bash = shutil.which("bash")
    if bash is not None:
        done = subprocess.run([bash, "-n"], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


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


def test_there_are_snippets_of_each_language_and_no_others() -> None:
    assert {each.values[0] for each in SNIPPETS} == set(READERS)


COMMANDS = sorted(
    {
        text
        for page in PAGES
        for text in INLINE.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
        # The form of a command, not one to type.
        if not re.search(r"[…\[|]|KEY…", text)
    }
)


@pytest.mark.parametrize("text", COMMANDS)
def test_a_command_in_a_sentence_is_one_that_exists(text: str) -> None:
    # A sentence may name the command alone.
    with suppress(click.MissingParameter):
        shell(text)


@pytest.mark.parametrize(
    "text", ["lakeward report --nope", "lakeward nope", "make nope", "lakeward run a b c"]
)
def test_a_command_that_does_not_exist_is_found(text: str) -> None:
    with pytest.raises((click.UsageError, AssertionError)):
        shell(text)
