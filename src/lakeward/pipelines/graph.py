"""The collected pipeline: its datasets by name, in the order of declaration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lakeward.pipelines.elements import Dataset, Hook
from lakeward.pipelines.names import Home, parts, without_live

__all__ = ["Graph"]


@dataclass(frozen=True)
class Graph:
    """All datasets of a pipeline; `home` completes short names."""

    home: Home
    datasets: tuple[Dataset, ...]
    hooks: tuple[Hook, ...] = ()

    def __iter__(self) -> Iterator[Dataset]:
        return iter(self.datasets)

    def find(self, name: str | tuple[str, ...], home: Home | None = None) -> Dataset | None:
        """The dataset that `name` (1 to 3 parts, any case, `LIVE.` allowed) means here, or None.

        A one-part name means a view of the pipeline before a table (spec §7.4.1). `home` stands in for
        the pipeline's own where USE is in force.
        """
        try:
            asked = without_live(parts(name) if isinstance(name, str) else name)
        except ValueError:
            return None
        if not 1 <= len(asked) <= 3:
            return None
        if len(asked) == 1:
            view = self._by_key.get((asked[0].lower(),))
            if view is not None:
                return view
        return self._by_key.get((home or self.home).full(asked))

    @property
    def _by_key(self) -> dict[tuple[str, ...], Dataset]:
        return {dataset.key: dataset for dataset in self.datasets}

    def names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets]

    def only(self, keys: Iterable[tuple[str, ...]]) -> Iterator[Dataset]:
        wanted = set(keys)
        return (dataset for dataset in self.datasets if dataset.key in wanted)
