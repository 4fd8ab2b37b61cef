"""Small files that stand for very much end in an error within a second, whatever repeats them."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeward.bundle import load
from lakeward.bundle.configuration.node import plain
from lakeward.bundle.configuration.yaml_reader import parse
from lakeward.errors import BundleError

BUNDLE = "bundle: {name: b}\n"


def laughs(levels: int, shape: str) -> str:
    """`levels` anchors, each with nine aliases of the one before in `shape`."""
    first = "x0: &x0 {a: 1}\n" if "{" in shape else "x0: &x0 [lol]\n"
    return first + "".join(
        f"x{level}: &x{level} {shape.replace('*', f'*x{level - 1}')}\n" for level in range(1, levels + 1)
    )


def nested(number: int) -> str:
    return "{" + ", ".join(f"k{k}: '${{var.v{number}}}'" for k in range(9)) + "}"


LISTS = "[" + ", ".join("*" * 9) + "]"
MAPS = "{" + ", ".join(f"k{n}: *" for n in range(9)) + "}"
TEXTS = {
    "aliases in lists": laughs(30, LISTS),
    "aliases in maps": laughs(30, MAPS),
    "merged lists": "a: &a {x: 1}\n" + laughs(30, LISTS).replace("[lol]", "[*a]") + "all: {<<: *x30}\n",
    "maps merged and nested": laughs(30, "{<<: *, " + MAPS[1:]),
    "many merges of many keys": "a: &a {" + ", ".join(f"k{n}: 1" for n in range(5000)) + "}\n"
    + "b:\n  <<: [" + ", ".join(["*a"] * 5000) + "]\n",
    "nested in flow style": "a: " + "[" * 600,
    "nested and closed": "a: " + "[" * 150 + "]" * 150,
    "nested maps": "a: " + "{b: " * 5000,
    "nested in block style": "\n".join(" " * n + "a:" for n in range(400)),
    "nested sequences in a row": "- " * 5000 + "a",
    "a long number": "a: " + "9" * 10_000,
    "a wrong tag": "a: !!int nine\nb: !!bool nine\n",
    "a long file": "# " + "x" * (3 * 2**20),
}  # fmt: skip

VARIABLES = {
    "texts": "variables:\n  v0: {default: lol}\n"
    + "".join(f"  v{n}: {{default: '{('${var.v' + str(n - 1) + '}') * 9}'}}\n" for n in range(1, 40)),
    "complex values": "variables:\n  v0: {type: complex, default: {a: 1}}\n"
    + "".join(f"  v{n}: {{type: complex, default: {nested(n - 1)}}}\n" for n in range(1, 40)),
    "a long chain": "variables:\n  v0: {default: end}\n"
    + "".join(f"  v{n}: {{default: '${{var.v{n - 1}}}'}}\n" for n in range(3000, 0, -1)),
    "many in one text": f"variables:\n  v: {{default: {'x' * 100_000}}}\n"
    f"  w: {{default: '{'${var.v}' * 1000}'}}\n",
}


@pytest.fixture(autouse=True)
def _bounded() -> Iterator[None]:
    """Each of them ends within seconds, and takes less than 300 MB more than it found."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    yield
    assert time.process_time() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_unfolds_without_end_is_refused(name: str) -> None:
    with pytest.raises(BundleError) as refusal:
        parse(TEXTS[name], "databricks.yml")
    assert refusal.value.condition == "YAML_INVALID"
    assert str(refusal.value).startswith("[YAML_INVALID] databricks.yml:")


@pytest.mark.parametrize("name", VARIABLES)
def test_variables_that_unfold_without_end_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "databricks.yml").write_text(BUNDLE + VARIABLES[name] + "targets: {dev: {default: true}}\n")
    with pytest.raises(BundleError) as refusal:
        load(tmp_path)
    assert refusal.value.condition == "REFERENCE_INVALID"


def test_overrides_that_are_nested_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "databricks.yml").write_text(
        BUNDLE + "variables: {v: {default: 1}}\ntargets: {dev: {default: true}}\n"
    )
    overrides = tmp_path / ".databricks" / "bundle" / "dev" / "variable-overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text('{"v": ' + "[" * 100_000)
    with pytest.raises(BundleError, match="nested more than 100 levels"):
        load(tmp_path)


def test_what_people_write_is_within_the_limits() -> None:
    tasks = "".join(f"- {{task_key: t{n}, <<: *common, libraries: *libs}}\n" for n in range(2000))
    text = "common: &common {max_retries: 1, timeout_seconds: 60}\nlibs: &libs [{pypi: {package: x}}]\n"
    tree = parse(text + "tasks:\n" + tasks, "databricks.yml")
    assert len(plain(tree)["tasks"]) == 2000
    assert plain(tree)["tasks"][1999]["libraries"] == [{"pypi": {"package": "x"}}]
    assert plain(parse("a: " + "[" * 90 + "]" * 90, "databricks.yml"))["a"]
