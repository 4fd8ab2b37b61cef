"""What a reader says when a file has more than the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from lakeward.autoloader.plan import ReadPlan

__all__ = ["NewFields", "wider"]


class NewFields(Exception):
    """Fields that the schema lacks, or `types` that it has to widen to; `detail` is what it shows."""

    def __init__(
        self, condition: str, detail: str, path: str, types: dict[str, DataType] | None = None
    ) -> None:
        super().__init__(detail)
        self.types = types or {}
        self.condition = condition
        self.detail = detail
        self.path = path


def wider(plan: ReadPlan, name: str, dtype: DataType, text: str) -> DataType | None:
    """The type that column `name` can widen to so that it holds the value (§3.4); None where it cannot.

    A hint pins a column's type (§2.3 rule 7).
    """
    if plan.mode != "addNewColumnsWithTypeWidening" or name.lower() in plan.pinned:
        return None
    from lakeward.autoloader.schema.infer_csv import type_of
    from lakeward.autoloader.schema.merge import widened

    found = widened(dtype, type_of(text))
    return None if found == dtype else found
