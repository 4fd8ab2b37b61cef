"""Changes to other people's code are made once, listed, and given back exactly."""

from __future__ import annotations

import threading
import types
from typing import Any

import pytest

from lakeward.session import patches


@pytest.fixture(autouse=True)
def only_own_patches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has the room to itself; what the suite's session put in force stays in force."""
    monkeypatch.setattr(patches, "_records", {})


class Base:
    def greet(self) -> str:
        return "base"


class Foreign(Base):
    @classmethod
    def made(cls) -> str:
        return cls.__name__

    @staticmethod
    def plain() -> str:
        return "plain"

    @property
    def size(self) -> int:
        return 1

    def method(self) -> str:
        return "method"


def test_a_second_replacement_takes_the_place_of_the_first_and_the_original_stays_the_true_one() -> None:
    true_one = vars(Foreign)["method"]
    patches.replace(Foreign, "method", lambda self: "first", why="first reason")
    patches.replace(Foreign, "method", lambda self: "second", why="second reason")
    assert Foreign().method() == "second"
    assert patches.original(Foreign, "method") is true_one
    assert [(p.attribute, p.why) for p in patches.installed()] == [("method", "second reason")]
    patches.undo(Foreign, "method")
    assert vars(Foreign)["method"] is true_one


@pytest.mark.parametrize("attribute", ["made", "plain", "size", "method"])
def test_undo_gives_back_the_very_entry_of_every_kind_of_attribute(attribute: str) -> None:
    entry = vars(Foreign)[attribute]
    patches.replace(Foreign, attribute, property(lambda self: "changed"), why="test")
    assert patches.original(Foreign, attribute) is entry
    assert vars(Foreign)[attribute] is not entry
    patches.undo_all()
    assert vars(Foreign)[attribute] is entry


def test_an_inherited_attribute_is_inherited_again_after_undo() -> None:
    patches.replace(Foreign, "greet", lambda self: "changed", why="test")
    assert Foreign().greet() == "changed"
    assert Base().greet() == "base"
    assert patches.original(Foreign, "greet") is vars(Base)["greet"]
    patches.undo(Foreign, "greet")
    assert "greet" not in vars(Foreign)
    assert Foreign().greet() == "base"


def test_an_attribute_that_was_not_there_is_gone_after_undo() -> None:
    patches.replace(Foreign, "extra", 1, why="test")
    with pytest.raises(AttributeError, match="extra"):
        patches.original(Foreign, "extra")
    patches.undo_all()
    assert not hasattr(Foreign, "extra")


def test_modules_and_builtins_are_owners_too() -> None:
    module = types.ModuleType("somebody.module")
    module.__dict__["work"] = len
    patches.replace(module, "work", max, why="because")
    assert patches.installed() == [patches.Patch("somebody.module", "work", "because")]
    assert module.work([1, 2]) == 2
    patches.undo_all()
    assert module.work is len
    assert patches.installed() == []


def test_the_list_names_classes_in_full_and_keeps_the_order() -> None:
    patches.replace(Foreign, "method", lambda self: "", why="a")
    patches.replace(Foreign, "greet", lambda self: "", why="b")
    assert [p.owner_name for p in patches.installed()] == [f"{__name__}.Foreign"] * 2
    assert [p.attribute for p in patches.installed()] == ["method", "greet"]
    patches.undo_all()


def test_a_class_written_in_c_is_refused_and_leaves_no_entry_in_the_list() -> None:
    with pytest.raises(TypeError):
        patches.replace(dict, "get", None, why="test")
    assert patches.installed() == []


def test_original_of_an_untouched_attribute_is_the_attribute() -> None:
    assert patches.original(Foreign, "plain") is vars(Foreign)["plain"]


def test_many_threads_replacing_at_once_keep_the_true_original() -> None:
    entry = vars(Foreign)["method"]
    start = threading.Barrier(8)

    def work(n: int) -> None:
        start.wait()
        for _ in range(200):
            patches.replace(Foreign, "method", lambda self: n, why="race")

    threads: list[Any] = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert patches.original(Foreign, "method") is entry
    patches.undo_all()
    assert vars(Foreign)["method"] is entry


def test_an_item_put_into_a_list_is_taken_out_alone() -> None:
    module = types.ModuleType("somebody.module")
    hooks = ["theirs"]
    module.__dict__["hooks"] = hooks
    patches.insert(module, "hooks", "ours", why="because")
    patches.insert(module, "hooks", "ours", why="because")
    hooks.append("theirs since")
    assert hooks == ["ours", "theirs", "theirs since"]
    assert patches.installed() == [patches.Patch("somebody.module", "hooks", "because")]
    patches.undo(module, "hooks", "ours")
    assert module.hooks is hooks
    assert hooks == ["theirs", "theirs since"]


def test_the_code_of_a_function_is_given_back() -> None:
    def one() -> int:
        return 1

    before = one.__code__
    with patches.temporary():
        patches.replace(one, "__code__", (lambda: 2).__code__, why="a test")
        assert (one(), patches.original(one, "__code__")) == (2, before)
        assert patches.installed()[-1].owner_name.endswith("one")
    assert (one(), one.__code__) == (1, before)
