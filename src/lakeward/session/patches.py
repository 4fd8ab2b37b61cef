"""Every change to somebody else's class, module or builtin stands here: listed, undoable, made once.

`replace` remembers what was there before the first change of an attribute and never forgets it, so that
`original` is the true one however often an attribute is replaced, and `undo` gives exactly that back.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

__all__ = [
    "Patch",
    "append",
    "insert",
    "installed",
    "original",
    "replace",
    "temporary",
    "undo",
    "undo_all",
]


@dataclass(frozen=True)
class Patch:
    """One changed attribute: where it is (`owner_name`.`attribute`) and why it has to differ."""

    owner_name: str
    attribute: str
    why: str


class _Absent:
    """Marks an attribute that the owner itself did not have: undoing the change deletes it."""


_ABSENT = _Absent()


@dataclass
class _Record:
    owner: object  # kept alive, so that its id stays its own
    before: Any
    patch: Patch
    give_back: Callable[[], None]


_records: dict[tuple[int, str], _Record] = {}
_lock = threading.RLock()


def replace(owner: object, attribute: str, replacement: Any, *, why: str) -> None:
    """Put `replacement` in the place of `owner.attribute`; a further call replaces the replacement.

    `owner` is a module, a class, a function or an object with a `__dict__`. `replacement` is stored as given:
    wrap it in `classmethod`, `staticmethod` or `property` where the original is one. Raises TypeError for a
    class that Python does not let anybody change (those written in C).
    """
    with _lock:
        key = (id(owner), attribute)
        known = _records.get(key)
        before = known.before if known else _own(owner).get(attribute, _ABSENT)
        setattr(owner, attribute, replacement)

        def give_back() -> None:
            if before is _ABSENT:
                delattr(owner, attribute)
            else:
                setattr(owner, attribute, before)

        _records[key] = _Record(owner, before, Patch(_name(owner), attribute, why), give_back)


def insert(owner: object, attribute: str, item: object, *, why: str) -> None:
    """Put `item` first in the list `owner.attribute` (`sys.meta_path`, `sys.path_hooks`), once.

    `undo(owner, attribute, item)` takes out this item alone: what others have put into the list since stays.
    """
    _put(owner, attribute, item, why, first=True)


def append(owner: object, attribute: str, item: object, *, why: str) -> None:
    """Put `item` last in the list `owner.attribute`, once; otherwise as `insert`."""
    _put(owner, attribute, item, why, first=False)


def _put(owner: object, attribute: str, item: object, why: str, *, first: bool) -> None:
    with _lock:
        entries: list[object] = getattr(owner, attribute)
        key = (id(item), attribute)
        if key in _records:
            return
        entries.insert(0 if first else len(entries), item)

        def give_back() -> None:
            entries[:] = [entry for entry in entries if entry is not item]

        _records[key] = _Record(item, _ABSENT, Patch(_name(owner), attribute, why), give_back)


def original(owner: object, attribute: str) -> Any:
    """What `owner.attribute` is without any patch: the raw entry, so a classmethod comes as `classmethod`.

    An attribute that nobody has replaced is returned as it is; AttributeError where there is none.
    """
    with _lock:
        known = _records.get((id(owner), attribute))
        if known is None:
            # Statically seen, a function's code is the type's slot for it.
            of_function = isinstance(owner, FunctionType)
            return getattr(owner, attribute) if of_function else inspect.getattr_static(owner, attribute)
        if known.before is not _ABSENT:
            return known.before
        if isinstance(owner, type):
            for base in owner.__mro__[1:]:
                if attribute in vars(base):
                    return original(base, attribute)
        raise AttributeError(f"{_name(owner)} has no attribute {attribute!r} of its own")


def installed() -> list[Patch]:
    """All changes in force, in the order in which they were made."""
    with _lock:
        return [record.patch for record in _records.values()]


def undo(owner: object, attribute: str, item: object | None = None) -> None:
    """Give back what was there before the first `replace`, or take the inserted `item` out of the list.

    Nothing happens where nothing was changed.
    """
    with _lock:
        record = _records.pop((id(owner if item is None else item), attribute), None)
        if record is not None:
            record.give_back()


@contextmanager
def temporary() -> Iterator[None]:
    """A block after which the changes made in it are taken back, the latest first; older ones stay."""
    with _lock:
        before = set(_records)
    try:
        yield
    finally:
        with _lock:
            for key in reversed([key for key in _records if key not in before]):
                _records.pop(key).give_back()


def undo_all() -> None:
    """Take back every change, the latest first."""
    with _lock:
        while _records:
            _, record = _records.popitem()
            record.give_back()


def _own(owner: object) -> Mapping[str, Any]:
    """The entries of the owner itself; a function's code stands in no dictionary."""
    return {**vars(owner), "__code__": owner.__code__} if isinstance(owner, FunctionType) else vars(owner)


def _name(owner: object) -> str:
    if isinstance(owner, ModuleType):
        return owner.__name__
    named = owner if isinstance(owner, (type, FunctionType)) else type(owner)
    return f"{named.__module__}.{named.__qualname__}"
