"""XML elements → values of Spark's types, or what has to be rescued of them (auto-loader.md §1.5, §4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from lakeward.autoloader.readers.convert import Formats, parser_of
from lakeward.autoloader.readers.json_texts import object_text
from lakeward.autoloader.readers.xml_records import Element, Item
from lakeward.autoloader.readers.xml_rules import XmlRules, as_rescued

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

__all__ = ["Taker"]


class Outcome(NamedTuple):
    """A value, JSON text of what has no place in it, and whether some text was not of its type."""

    value: Any
    rest: str | None = None
    misfit: bool = False


Read = Callable[[Item], Outcome]


def reader_of(dtype: DataType, formats: Formats, rules: XmlRules) -> Read:
    """An element or a text → its outcome as a value of the type."""
    name = dtype.typeName()
    if name == "struct":
        return _struct(dtype, formats, rules)
    if name == "map":
        return _map(reader_of(dtype.valueType, formats, rules), rules)  # type: ignore[attr-defined]
    if name == "array":
        element = reader_of(dtype.elementType, formats, rules)  # type: ignore[attr-defined]
        return lambda item: _together([element(item)], [item], rules)
    return _leaf(_text if name == "string" else _typed(dtype, formats), rules)


def _together(outcomes: list[Outcome], items: list[Item], rules: XmlRules) -> Outcome:
    """Elements as an array; all of it is rescued when something of one is."""
    misfit = any(outcome.misfit for outcome in outcomes)
    left = misfit or any(outcome.rest is not None for outcome in outcomes)
    value = None if misfit else [outcome.value for outcome in outcomes]
    return Outcome(value, as_rescued(items, rules) if left else None, misfit)


def _leaf(parse: Callable[[str | None, Item, XmlRules], tuple[Any, bool]], rules: XmlRules) -> Read:
    """What has one value; attributes, for which that leaves no place, are rescued with the element."""

    def read(item: Item) -> Outcome:
        text = item if isinstance(item, str) else item.text
        value, misfit = parse(None if text is None else rules.scalar(text), item, rules)
        attributed = isinstance(item, Element) and item.attributes and not rules.exclude_attributes
        return Outcome(value, as_rescued([item], rules) if misfit or attributed else None, misfit)

    return read


def _text(text: str | None, item: Item, _: XmlRules) -> tuple[Any, bool]:
    """A leaf's text; an element with elements in it as its XML."""
    if isinstance(item, Element) and item.text is None:
        return item.inner.strip(), False
    return text, False


def _typed(dtype: DataType, formats: Formats) -> Callable[[str | None, Item, XmlRules], tuple[Any, bool]]:
    parse: Callable[[str], Any] = parser_of(dtype, formats)
    if dtype.typeName() == "boolean":
        parse = {"true": True, "1": True, "false": False, "0": False}.get

    def typed(text: str | None, item: Item, _: XmlRules) -> tuple[Any, bool]:
        if not text:
            return None, isinstance(item, Element) and item.text is None
        value = parse(text.lower() if dtype.typeName() == "boolean" else text)
        return value, value is None

    return typed


def _struct(dtype: Any, formats: Formats, rules: XmlRules) -> Read:
    take = Taker.of({f.name: f.dataType for f in dtype.fields}, formats, rules)

    def read(item: Item) -> Outcome:
        if isinstance(item, str):
            item = Element("", {}, b"", 0, 0, [item])
        taken = take(rules.fields(item))
        rest = object_text(taken.rest.items()) if taken.rest else None
        return Outcome(taken.value, rest, taken.misfit)

    return read


def _map(item_of: Read, rules: XmlRules) -> Read:
    def read(item: Item) -> Outcome:
        if isinstance(item, str):
            return Outcome(None, as_rescued([item], rules), misfit=True)
        outcomes = {name: item_of(items[-1]) for name, items in rules.fields(item).items()}
        whole = _together(list(outcomes.values()), [item], rules)
        value = [(name, outcome.value) for name, outcome in outcomes.items()]
        return whole._replace(value=None if whole.misfit else value)

    return read


@dataclass(frozen=True)
class Taken:
    """`value` by column, `rest` by the file's name as JSON texts, and which of those are `unknown`."""

    value: dict[str, Any]
    rest: dict[str, str]
    unknown: list[str]
    misfit: bool


@dataclass(frozen=True)
class Taker:
    """Fields by name → the schema's columns, and what has no place in them."""

    types: Mapping[str, DataType]
    reads: Mapping[str, Read]
    rules: XmlRules
    spelled: Mapping[str, str]

    @classmethod
    def of(cls, types: Mapping[str, DataType], formats: Formats, rules: XmlRules) -> Taker:
        """For these columns."""
        items = {n: t.elementType if t.typeName() == "array" else t for n, t in types.items()}  # type: ignore[attr-defined]
        reads = {name: reader_of(dtype, formats, rules) for name, dtype in items.items()}
        return cls(types, reads, rules, {name.lower(): name for name in types})

    def __call__(self, fields: Mapping[str, list[Item]]) -> Taken:
        """Of an element that comes several times where the column holds one, the last is taken."""
        taken = Taken({}, {}, [], misfit=False)
        misfit = False
        for key, items in fields.items():
            name = key if key in self.types else self.spelled.get(key.lower())
            if name is None or (name != key and self.rules.case_sensitive):
                if name is None:
                    taken.unknown.append(key)
                taken.rest[key] = as_rescued(items, self.rules)
                continue
            outcome = self._read(name, items)
            taken.value[name] = outcome.value
            misfit = misfit or outcome.misfit
            if outcome.rest is not None:
                taken.rest[key] = outcome.rest
        return replace(taken, misfit=misfit)

    def _read(self, name: str, items: list[Item]) -> Outcome:
        read = self.reads[name]
        if self.types[name].typeName() == "array":
            return _together([read(item) for item in items], items, self.rules)
        outcome = read(items[-1])
        return outcome if len(items) == 1 else outcome._replace(rest=as_rescued(items, self.rules))
