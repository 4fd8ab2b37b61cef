"""`rowValidationXSDPath`: records that a schema of their own forbids are malformed (auto-loader.md §1.5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lakeward.autoloader.plan import ReadPlan
from lakeward.autoloader.readers.xml_records import Broken, Element
from lakeward.errors import CloudFilesError

__all__ = ["Xsd"]


@dataclass(frozen=True)
class Xsd:
    """The schema that every record has to obey."""

    path: str

    @classmethod
    def of(cls, plan: ReadPlan) -> Xsd | None:
        """As the option says; None without it. Raises CF_INVALID_OPTION_VALUE for what is no XSD."""
        path = plan.set_options.text("rowValidationXSDPath")
        if not path:
            return None
        local = plan.names.local(path)
        try:
            _schema(local)
        except Exception as error:  # noqa: BLE001  # the library has many, and all say the same
            raise CloudFilesError(
                "CF_INVALID_OPTION_VALUE",
                f"Option rowValidationXSDPath is {path!r}, which cannot be used: "
                f"{' '.join(str(error).split())[:300]}.",
                next_step="Name an XSD file that can be read here.",
            ) from None
        return cls(local)

    def checked(self, record: Element | Broken) -> Element | Broken:
        """The record, or the same as a broken one."""
        if isinstance(record, Broken):
            return record
        error = next(self._errors(record.outer), None)
        if error is None:
            return record
        return Broken(record.outer.encode(), f"the XSD forbids it: {' '.join(str(error).split())}")

    def _errors(self, text: str) -> Any:
        from xmlschema import XMLSchemaException

        try:
            for error in _schema(self.path).iter_errors(text):
                yield error.reason
        except (XMLSchemaException, SyntaxError) as error:
            yield error


@cache
def _schema(path: str) -> Any:
    from xmlschema import XMLSchema

    return XMLSchema(Path(path).read_text(encoding="utf-8"), base_url=str(Path(path).parent))
