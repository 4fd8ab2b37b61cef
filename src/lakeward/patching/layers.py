"""The chain of named layers on an attribute.

`wrap` adds a layer: a function that receives the implementation below it and returns the one to use. Layers
are sorted by `Order`, then by name, so the result does not depend on the order of installation. A layer is
identified by its name: adding it twice changes nothing, and each layer can be removed alone. The attribute's
own value is the bottom of the chain and comes back when the last layer is removed.

A value that other code assigned over a chain (`unittest.mock`, a user's own patch) stays: layers added later
wrap it, and a layer below it is removed from the chain without touching the assigned value.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from types import FunctionType, ModuleType
from typing import Any

Make = Callable[[Any], Any]
Wrapped = Callable[..., Any]
"""What a layer on a function or a method receives: the implementation below it."""


class Order(IntEnum):
    """The position of a layer in its chain, from the innermost to the one that is called first."""

    REPLACEMENT = 10
    """What the attribute does at all: lakeward's session, names in the current catalog."""
    SOURCE = 20
    """Further data sources and table kinds, such as `cloudFiles`."""
    FALLBACK = 30
    """What happens when the layers below fail, such as creating a table from its declared seed."""
    POLICY = 40
    """What the runtime profile forbids. It inspects the calling frame, so few layers may wrap it."""
    PIPELINE = 50
    """Names of the running pipeline's datasets."""
    NOTICE = 60
    """Warnings that name the caller's line."""


@dataclass(frozen=True)
class Patch:
    """One layer, or one entry of a list: what is changed, by which layer, and why."""

    owner_name: str
    attribute: str
    layer: str
    reason: str


class _Absent:
    """Marks an attribute that the owner itself does not have: removing the last layer deletes it."""


_ABSENT = _Absent()


@dataclass(frozen=True)
class _Layer:
    patch: Patch
    make: Make
    order: int


@dataclass
class _Chain:
    owner: object  # kept alive, so that its id stays unique
    attribute: str
    base: Any
    below: _Chain | None = None  # the chain under a value that other code assigned
    layers: list[_Layer] = field(default_factory=list)
    composed: Any = _ABSENT

    def names(self) -> set[str]:
        found = {layer.patch.layer for layer in self.layers}
        return found | self.below.names() if self.below else found

    def compose(self) -> Any:
        value = _inherited(self.owner, self.attribute) if self.base is _ABSENT else self.base
        for layer in self.layers:
            value = layer.make(value)
        return value


@dataclass(frozen=True)
class _Entry:
    entries: list[object]
    item: object
    patch: Patch


_chains: dict[tuple[int, str], _Chain] = {}
_entries: list[_Entry] = []
_lock = threading.RLock()


def wrap(
    owner: object,
    attribute: str,
    make: Make,
    *,
    layer: str,
    reason: str,
    order: Order = Order.REPLACEMENT,
) -> bool:
    """Add the layer `layer` to `owner.attribute` and return True; return False if it is there already.

    Args:
        owner: A module, a class, a function or an object with a `__dict__`.
        attribute: The name of the attribute; the owner need not have it.
        make: Receives the raw entry below this layer (a classmethod as `classmethod`, a property as
            `property`; None for an attribute that exists nowhere) and returns the entry to use. It may be
            called again whenever another layer is added or removed.
        layer: The name of the layer, unique within the attribute.
        reason: What the layer is for, in one clause, for `lakeward check --patches`.
        order: The position in the chain.

    Raises:
        TypeError: The owner is a class written in C, whose attributes cannot be set.
    """
    with _lock:
        chain = _chain(owner, attribute)
        if layer in chain.names():
            return False
        before = chain.layers
        added = _Layer(Patch(owner_name(owner), attribute, layer, reason), make, order)
        chain.layers = sorted([*before, added], key=lambda each: (each.order, each.patch.layer))
        try:
            value = chain.compose()
            setattr(owner, attribute, value)
        except BaseException:
            chain.layers = before
            _drop_empty(chain)
            raise
        chain.composed = value
        return True


def remove(owner: object, attribute: str, layer: str) -> None:
    """Remove one layer; the others stay. Nothing happens where the layer is not installed."""
    with _lock:
        top = _chains.get((id(owner), attribute))
        chain: _Chain | None = _live(top) if top else None
        is_top = True
        while chain is not None:
            kept = [each for each in chain.layers if each.patch.layer != layer]
            if len(kept) < len(chain.layers):
                chain.layers = kept
                if is_top:
                    _assign(chain)
                return
            chain, is_top = chain.below, False


def original(owner: object, attribute: str) -> Any:
    """Return the raw entry of `owner.attribute` without any layer: a classmethod comes as `classmethod`.

    Raises AttributeError where neither the owner nor a base class has one.
    """
    with _lock:
        chain = _chains.get((id(owner), attribute))
        while chain is not None and chain.below is not None:
            chain = chain.below
        if chain is not None and chain.base is not _ABSENT:
            return chain.base
        if chain is None:
            # Statically, a function's code is the type's slot for it.
            of_function = isinstance(owner, FunctionType)
            return getattr(owner, attribute) if of_function else inspect.getattr_static(owner, attribute)
        if isinstance(owner, type):
            for base in owner.__mro__[1:]:
                if attribute in vars(base):
                    return original(base, attribute)
        raise AttributeError(f"{owner_name(owner)} has no attribute {attribute!r} of its own")


def insert_entry(owner: object, item: object, patch: Patch, *, first: bool = True) -> None:
    """Put `item` first or last in the list of `owner` that `patch` names (`sys.meta_path`), once."""
    with _lock:
        if any(entry.item is item for entry in _entries):
            return
        entries: list[object] = getattr(owner, patch.attribute)
        entries.insert(0 if first else len(entries), item)
        _entries.append(_Entry(entries, item, patch))


def remove_entry(item: object) -> None:
    """Take `item` out of the list that it was put into; entries of other code stay."""
    with _lock:
        for entry in [each for each in _entries if each.item is item]:
            _entries.remove(entry)
            entry.entries[:] = [each for each in entry.entries if each is not item]


def installed_patches() -> list[Patch]:
    """Return all list entries and layers in force; the layers of an attribute from the innermost outwards."""
    with _lock:
        found = [entry.patch for entry in _entries]
        for chain in _chains.values():
            each: _Chain | None = chain
            while each is not None:
                found += [layer.patch for layer in each.layers]
                each = each.below
        return found


@contextmanager
def temporary() -> Iterator[None]:
    """Remove at the end of the block what was added in it; earlier layers stay."""
    with _lock:
        before = _identities()
    try:
        yield
    finally:
        _remove_except(before)


def remove_all() -> None:
    """Remove every layer and every list entry."""
    _remove_except(set())


def owner_name(owner: object) -> str:
    """Return the dotted name under which an owner is listed."""
    if isinstance(owner, ModuleType):
        return owner.__name__
    named = owner if isinstance(owner, (type, FunctionType)) else type(owner)
    return f"{named.__module__}.{named.__qualname__}"


def _identities() -> set[tuple[int, str, str]]:
    found = {(id(entry.item), "", "") for entry in _entries}
    for (owner, attribute), chain in _chains.items():
        found |= {(owner, attribute, layer) for layer in chain.names()}
    return found


def _remove_except(kept: set[tuple[int, str, str]]) -> None:
    with _lock:
        for entry in list(reversed(_entries)):
            if (id(entry.item), "", "") not in kept:
                remove_entry(entry.item)
        for (owner, attribute), chain in list(reversed(_chains.items())):
            for layer in chain.names():
                if (owner, attribute, layer) not in kept:
                    remove(chain.owner, attribute, layer)


def _chain(owner: object, attribute: str) -> _Chain:
    """Return the chain whose result is the attribute's present value; start one where that is foreign."""
    key = (id(owner), attribute)
    known = _live(_chains[key]) if key in _chains else None
    present = _own(owner).get(attribute, _ABSENT)
    if known is None or present is not known.composed:
        known = _Chain(owner, attribute, present, below=known)
    _chains[key] = known
    return known


def _live(chain: _Chain) -> _Chain:
    """Return the topmost chain in force: a foreign value may have been taken back, with what was above it."""
    present = _own(chain.owner).get(chain.attribute, _ABSENT)
    each: _Chain | None = chain
    while each is not None:
        if present is each.composed:
            return each
        each = each.below
    return chain


def _assign(chain: _Chain) -> None:
    """Make the layers of a chain the attribute's value, unless other code has assigned another one."""
    present = _own(chain.owner).get(chain.attribute, _ABSENT)
    if present is chain.composed:
        if chain.layers:
            chain.composed = chain.compose()
            setattr(chain.owner, chain.attribute, chain.composed)
        elif chain.base is _ABSENT:
            delattr(chain.owner, chain.attribute)
        else:
            setattr(chain.owner, chain.attribute, chain.base)
    _drop_empty(chain)


def _drop_empty(chain: _Chain) -> None:
    key = (id(chain.owner), chain.attribute)
    if chain.layers:
        _chains[key] = chain
    elif chain.below is not None:
        _chains[key] = chain.below
    else:
        _chains.pop(key, None)


def _inherited(owner: object, attribute: str) -> Any:
    return inspect.getattr_static(owner, attribute, None) if isinstance(owner, type) else None


def _own(owner: object) -> Mapping[str, Any]:
    """Return the entries of the owner itself; a function's code is in no dictionary."""
    return {**vars(owner), "__code__": owner.__code__} if isinstance(owner, FunctionType) else vars(owner)
