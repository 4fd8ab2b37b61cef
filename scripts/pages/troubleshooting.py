"""docs/troubleshooting.md: every error condition with its messages and next steps, from the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lakeward.session import catalog_remedy

DOCS = Path(__file__).resolve().parents[2] / "docs"
SOURCE = Path(__file__).resolve().parents[2] / "src" / "lakeward"
_CONDITION = re.compile(r"[A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*")
# The page of a package: where to read on.
PAGES = {
    "autoloader": "auto-loader.md", "bundle": "bundle.md", "check": "check.md", "cli": "index.md",
    "copy_into": "loading.md", "databricks_shims": "surroundings.md", "dbt": "dbt.md",
    "dbutils": "surroundings.md", "doctor": "doctor.md", "environments": "your-repository.md",
    "jobs": "jobs.md", "notebooks": "notebooks.md", "pipelines": "pipelines.md", "seeds": "testing.md",
    "session": "sessions.md", "sql": "sql.md",
    "streaming": "streaming.md", "testing": "testing.md", "workspace": "workspace.md",
}  # fmt: skip
# Conditions whose message another function or the platform writes.
MEANINGS = {
    "EVENT_LOG_UNAVAILABLE": "The pipeline or table that `event_log(…)` names has no readable event log.",
    "PARENT_NOT_FOUND": "A deployment would create a resource in a schema that does not exist.",
    "REQUIREMENTS_NOT_FOUND": "A requirements file names another one that does not exist.",
    "RESOURCE_EXISTS": "A deployment would create a resource whose name another one has already.",
    "UPDATE_FAILED": "The update that a unit test of a pipeline runs has failed; the message has the reason.",
    "SEED_FORMAT_UNKNOWN": "A seed is a file or folder of a format that cannot be read.",
}
# Sentences that several messages contain: a function of one name makes them.
_SENTENCES = {"catalog_remedy": catalog_remedy}
_HEAD = """# Errors and what to do

Every error of lakeward begins with its condition in brackets. Conditions of Databricks and Spark keep their
name, so their documentation applies, too. `…` is what differs from case to case. Exit code 2 is wrong usage
or configuration: nothing was run. `make docs` writes this page from the code that raises the errors.

If a message names no next step, its page has the rules. An `INTERNAL_ERROR` is a fault of lakeward: its file
with the traceback belongs into an issue, with the output of `lakeward --version --verbose`.
"""


@dataclass
class Condition:
    """What the code says of a condition: messages, next steps, and the packages that raise it."""

    name: str
    messages: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)


@cache
def conditions() -> dict[str, Condition]:
    """Return all conditions that the code names where it raises them, by name."""
    kinds = _error_classes()
    found: dict[str, Condition] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for call, constants in _calls(tree):
            if _called(call) not in kinds or not call.args:
                continue
            for name in _alternatives(call.args[0], constants):
                if name is None or not _CONDITION.fullmatch(name.replace("…", "X")) or name[0] == "…":
                    continue
                entry = found.setdefault(name, Condition(name))
                step = next((each.value for each in call.keywords if each.arg == "next_step"), None)
                message = call.args[1] if len(call.args) > 1 else None
                _note(entry.messages, *_alternatives(message, constants))
                _note(entry.steps, *_alternatives(step, constants))
                _note(entry.packages, path.relative_to(SOURCE).parts[0].removesuffix(".py"))
    return dict(sorted(found.items()))


def as_markdown() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *(_section(each) for each in conditions().values())])


def _section(entry: Condition) -> str:
    pages = dict.fromkeys(PAGES[each] for each in entry.packages if each in PAGES)
    links = ", ".join(f"[{_title(page)}]({page})" for page in pages or ("sessions.md",))
    lines = [f"## `{entry.name}`", ""]
    if entry.name in MEANINGS:
        lines += [MEANINGS[entry.name], ""]
    if entry.messages:
        lines += ["```console", *(f"[{entry.name}] {message}" for message in entry.messages[:4]), "```", ""]
    lines += [f"- {_markdown(step)}" for step in entry.steps[:6]]
    return "\n".join([*lines, f"- More: {links}", ""])


@cache
def _title(page: str) -> str:
    """Return the heading of a page of docs/."""
    return (DOCS / page).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _markdown(text: str) -> str:
    # `<name>` would be HTML.
    return re.sub(r"<(?=\w)", r"\\<", text)


def _error_classes() -> set[str]:
    tree = ast.parse((SOURCE / "errors.py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, dict[str, str]]]:
    """Yield every call with the texts that names have there: the module's, and those of its function.

    A name that a function assigns several times has the text of the last assignment above the call.
    """
    constants = _constants(tree.body, {})
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    local: dict[ast.AST, dict[str, str]] = {}
    for function in functions:
        assigned = sorted(
            (node for node in ast.walk(function) if isinstance(node, ast.Assign)),
            key=lambda node: node.lineno,
        )
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            above = [node for node in assigned if node.lineno <= call.lineno]
            local[call] = _constants(above, constants)
    yield from ((node, local.get(node, constants)) for node in ast.walk(tree) if isinstance(node, ast.Call))


def _constants(nodes: Iterable[ast.AST], known: dict[str, str]) -> dict[str, str]:
    """Return the names that assignments give texts to."""
    found = dict(known)
    for node in nodes:
        if isinstance(node, ast.Assign):
            text = _text(node.value, found)
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            found |= dict.fromkeys(names, text) if text else {}
    return found


def _text(node: ast.expr | None, constants: dict[str, str]) -> str | None:
    """Return a text as the code spells it, with `…` for what it fills in; None for one made elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return " ".join(node.value.split())
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    if isinstance(node, ast.JoinedStr):
        parts = (
            str(each.value) if isinstance(each, ast.Constant) else _filled_in(each) for each in node.values
        )
        return " ".join("".join(parts).split())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left, constants), _text(node.right, constants)
        return None if left is None and right is None else f"{left or '…'}{right or '…'}"
    return None


def _filled_in(node: ast.expr) -> str:
    """Return the text of a function in `_SENTENCES`, else `…`."""
    call = node.value if isinstance(node, ast.FormattedValue) else None
    make = _SENTENCES.get(_called(call)) if isinstance(call, ast.Call) else None
    return make("…") if make else "…"


def _alternatives(node: ast.expr | None, constants: dict[str, str]) -> Iterator[str | None]:
    """Yield the texts of a conditional expression, or the one text."""
    if isinstance(node, ast.IfExp):
        yield from (*_alternatives(node.body, constants), *_alternatives(node.orelse, constants))
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _alternatives(value, constants)
    else:
        yield _text(node, constants)


def _note(texts: list[str], *found: str | None) -> None:
    texts += [each for each in found if each and each.strip("… ") and each not in texts]
