"""YAML text becomes values with positions, by the rules of YAML 1.2."""

from __future__ import annotations

import pytest

from lakeward.bundle.configuration.node import Node, plain
from lakeward.bundle.configuration.yaml_reader import parse
from lakeward.errors import BundleError


def test_scalars_have_the_types_of_yaml_1_2() -> None:
    text = "a: yes\nb: true\nc: 007\nd: 1.5\ne: ~\nf: 2026-01-02\ng: '5'\nh: on\ni: 12"
    assert plain(parse(text, "f.yml")) == {
        "a": "yes",
        "b": True,
        "c": 7,
        "d": 1.5,
        "e": None,
        "f": "2026-01-02",
        "g": "5",
        "h": "on",
        "i": 12,
    }


def test_every_scalar_knows_its_line_and_column() -> None:
    tree = parse("a:\n  - x\n  - key: value\n", "f.yml")
    items = tree.children["a"].value
    assert str(items[0].position) == "f.yml:2:5"
    assert str(items[1].children["key"].position) == "f.yml:3:10"


def test_an_empty_document_is_an_empty_mapping() -> None:
    assert parse("# nothing\n", "f.yml") == Node({}, parse("", "f.yml").position)


def test_anchors_and_merge_keys_work_and_own_keys_win() -> None:
    text = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\nall:\n  <<: [*b, *m]\n  z: 5\n"
    assert plain(parse(text, "f.yml"))["all"] == {"x": 1, "y": 2, "z": 5}


@pytest.mark.parametrize(
    ("text", "value", "places"),
    [
        ("a: 1\nb: 0\na: 2\n", {"a": 2, "b": 0}, ["f.yml:1:1 f.yml:3:1"]),
        ("a: {x: 1}\na: {y: 2}\n", {"a": {"y": 2}}, ["f.yml:1:1 f.yml:2:1"]),
        ("a: 1\na: 2\na: 3\n", {"a": 3}, ["f.yml:1:1 f.yml:2:1", "f.yml:2:1 f.yml:3:1"]),
        ("l: [{k: 1, k: 2}]\n", {"l": [{"k": 2}]}, ["f.yml:1:6 f.yml:1:12"]),
        ('{"a": 1, "a": 2}', {"a": 2}, ["f.yml:1:2 f.yml:1:10"]),
        ("b: &b {x: 1}\na: {<<: *b, x: 2}\n", {"b": {"x": 1}, "a": {"x": 2}}, []),
        ("b: &b {x: 1, x: 2}\nc: *b\n", {"b": {"x": 2}, "c": {"x": 2}}, ["f.yml:1:8 f.yml:1:14"]),
    ],
)
def test_of_a_repeated_key_the_last_value_counts(text: str, value: object, places: list[str]) -> None:
    tree = parse(text, "f.yml")
    assert plain(tree) == value
    assert [f"{key.first} {key.last}" for key in tree.repeated] == places


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [1, 2\nb: 3\n", "f.yml:2:2"),
        ("a: 1\n\tb: 2\n", "f.yml:2:1"),
        ("a: 'open\n", "f.yml:2:1"),
        ("a: *nowhere\n", "f.yml:1:4"),
        ("a: &x\n  b: *x\n", "f.yml:1:4"),
        ("? [1, 2]\n: 3\n", "f.yml:1:3"),
    ],
)
def test_what_is_not_yaml_is_refused_at_its_place(text: str, place: str) -> None:
    with pytest.raises(BundleError) as caught:
        parse(text, "f.yml")
    assert caught.value.condition == "YAML_INVALID"
    assert caught.value.message.startswith(f"{place}: ")
    assert "\n" not in str(caught.value)
