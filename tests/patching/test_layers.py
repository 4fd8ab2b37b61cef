"""Named layers per attribute: any order of installation, removable one by one, exact restoration."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import pytest

from lakeward import patching
from lakeward.patching import Order, Patch, layers


@pytest.fixture(autouse=True)
def only_own_layers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test has empty tables; what the suite's session has installed stays in force."""
    monkeypatch.setattr(layers, "_chains", {})
    monkeypatch.setattr(layers, "_entries", [])
    yield
    patching.remove_all()


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


def around(name: str) -> Callable[[Any], Any]:
    """A layer that shows its place: `name(…)` around the result of what is below."""

    def make(before: Any) -> Any:
        return lambda self: f"{name}({before(self)})"

    return make


def wrap(name: str, order: Order = Order.REPLACEMENT, attribute: str = "method") -> bool:
    return patching.wrap(Foreign, attribute, around(name), layer=name, reason=f"for {name}", order=order)


ORDERS = {"a": Order.SOURCE, "b": Order.REPLACEMENT, "c": Order.POLICY, "d": Order.SOURCE}


@pytest.mark.parametrize("names", list(permutations(ORDERS)), ids="".join)
def test_the_chain_does_not_depend_on_the_order_of_installation(names: tuple[str, ...]) -> None:
    for name in names:
        wrap(name, ORDERS[name])
    assert Foreign().method() == "c(d(a(b(method))))"
    assert [patch.layer for patch in patching.installed_patches()] == ["b", "a", "d", "c"]


@pytest.mark.parametrize("names", list(permutations(ORDERS)), ids="".join)
def test_layers_are_removed_one_by_one_in_any_order(names: tuple[str, ...]) -> None:
    entry = vars(Foreign)["method"]
    for name, order in ORDERS.items():
        wrap(name, order)
    left = ["b", "a", "d", "c"]
    for name in names:
        patching.remove(Foreign, "method", name)
        left.remove(name)
        text = "method"
        for each in left:
            text = f"{each}({text})"
        assert Foreign().method() == text
    assert vars(Foreign)["method"] is entry
    assert patching.installed_patches() == []


def test_a_layer_is_added_once() -> None:
    assert wrap("a")
    assert not wrap("a")
    assert Foreign().method() == "a(method)"
    assert patching.installed_patches() == [Patch(f"{__name__}.Foreign", "method", "a", "for a")]


@pytest.mark.parametrize("attribute", ["made", "plain", "size", "method"])
def test_removal_restores_the_raw_entry_of_every_kind_of_attribute(attribute: str) -> None:
    entry = vars(Foreign)[attribute]
    received = []
    patching.wrap(
        Foreign, attribute, lambda before: received.append(before) or property(), layer="test", reason="test"
    )
    assert received == [entry]
    assert patching.original(Foreign, attribute) is entry
    assert vars(Foreign)[attribute] is not entry
    patching.remove_all()
    assert vars(Foreign)[attribute] is entry


def test_an_inherited_attribute_is_wrapped_and_inherited_again_after_removal() -> None:
    wrap("a", attribute="greet")
    assert Foreign().greet() == "a(base)"
    assert Base().greet() == "base"
    assert patching.original(Foreign, "greet") is vars(Base)["greet"]
    patching.remove(Foreign, "greet", "a")
    assert "greet" not in vars(Foreign)


def test_an_attribute_that_did_not_exist_is_deleted_after_removal() -> None:
    patching.wrap(Foreign, "extra", lambda before: [before], layer="test", reason="test")
    assert Foreign.extra == [None]  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="extra"):
        patching.original(Foreign, "extra")
    patching.remove_all()
    assert not hasattr(Foreign, "extra")


def test_a_patch_of_other_code_stays_when_layers_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = vars(Foreign)["method"]
    wrap("a")
    with monkeypatch.context() as users:
        users.setattr(Foreign, "method", lambda self: "users")
        wrap("b")
        assert Foreign().method() == "b(users)"
        assert not wrap("a")
        patching.remove(Foreign, "method", "a")
        assert Foreign().method() == "b(users)"
        patching.remove(Foreign, "method", "b")
        assert Foreign().method() == "users"
        wrap("b")
    # The user's patch is taken back with what wrapped it.
    wrap("c")
    assert Foreign().method().startswith("c(")
    patching.remove_all()
    Foreign.method = entry  # type: ignore[method-assign]


def test_a_layer_that_fails_to_be_made_changes_nothing() -> None:
    entry = vars(Foreign)["method"]

    def make(before: Any) -> Any:
        raise ValueError(before)

    with pytest.raises(ValueError, match="method"):
        patching.wrap(Foreign, "method", make, layer="bad", reason="test")
    assert vars(Foreign)["method"] is entry
    assert patching.installed_patches() == []


def test_modules_are_owners_too() -> None:
    module = types.ModuleType("foreign.module")
    module.__dict__["work"] = len
    patching.wrap(module, "work", lambda _: max, layer="test", reason="because")
    assert patching.installed_patches() == [Patch("foreign.module", "work", "test", "because")]
    assert module.work([1, 2]) == 2
    patching.remove_all()
    assert module.work is len


def test_a_class_written_in_c_is_rejected_and_not_listed() -> None:
    with pytest.raises(TypeError):
        patching.wrap(dict, "get", lambda _: None, layer="test", reason="test")
    assert patching.installed_patches() == []


def test_original_of_an_unpatched_attribute_is_the_attribute() -> None:
    assert patching.original(Foreign, "plain") is vars(Foreign)["plain"]


def test_threads_that_wrap_and_remove_at_once_restore_the_original() -> None:
    entry = vars(Foreign)["method"]
    start = threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        for _ in range(100):
            wrap(str(number))
            patching.remove(Foreign, "method", str(number))

    threads: list[Any] = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert vars(Foreign)["method"] is entry
    assert patching.installed_patches() == []


def test_an_entry_of_a_list_is_added_once_and_removed_alone() -> None:
    module = types.ModuleType("foreign.module")
    hooks = ["theirs"]
    module.__dict__["hooks"] = hooks
    ours, patch = object(), Patch("foreign.module", "hooks", "test", "because")
    for _ in range(2):
        patching.insert_entry(module, ours, patch)
    hooks.append("later")
    assert hooks == [ours, "theirs", "later"]
    assert patching.installed_patches() == [patch]
    last = object()
    patching.insert_entry(module, last, patch, first=False)
    assert hooks == [ours, "theirs", "later", last]
    patching.remove_entry(last)
    patching.remove_entry(ours)
    assert module.hooks is hooks
    assert hooks == ["theirs", "later"]


def test_a_temporary_block_removes_its_own_layers_only() -> None:
    def one() -> int:
        return 1

    before = one.__code__
    wrap("a")
    with patching.temporary():
        wrap("b")
        patching.wrap(one, "__code__", lambda _: (lambda: 2).__code__, layer="test", reason="a test")
        assert (one(), patching.original(one, "__code__")) == (2, before)
        assert patching.installed_patches()[-1].owner_name.endswith("one")
    assert (one(), one.__code__) == (1, before)
    assert Foreign().method() == "a(method)"


def test_applied_keeps_what_was_installed_before_the_block() -> None:
    owner = f"{__name__}:Foreign"
    outer = patching.PatchSpec(owner, "method", "outer", "test", around("outer"), Order.POLICY)
    inner = patching.PatchSpec(owner, "method", "inner", "test", around("inner"))
    assert patching.install([outer]) == [outer]
    with patching.applied([outer, inner]):
        assert Foreign().method() == "outer(inner(method))"
    assert Foreign().method() == "outer(method)"


def test_a_spec_without_a_value_is_installed_with_one() -> None:
    spec = patching.PatchSpec(f"{__name__}:Foreign", "method", "late", "test")
    assert patching.install([spec]) == []
    with pytest.raises(ValueError, match="make"):
        spec.install()
    assert spec.install(around("late"))
    assert Foreign().method() == "late(method)"
    spec.remove()
    assert Foreign().method() == "method"
