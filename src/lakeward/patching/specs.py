"""Patches declared as data: the owner by name, the layer, the reason and the function that makes it."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lakeward.patching import layers
from lakeward.patching.layers import Make, Order, Patch


@dataclass(frozen=True)
class PatchSpec:
    """One layer on one attribute, or one entry of a list.

    `owner` names the owner by its defining module: `"os"`, `"pyspark.sql.session:SparkSession"`. `make` is
    that of `layers.wrap`. A spec without `make` only declares: its package adds the layer or the list entry
    by `layers`, since the value exists only at run time.
    """

    owner: str
    attribute: str
    layer: str
    reason: str
    make: Make | None = None
    order: Order = Order.REPLACEMENT

    @property
    def patch(self) -> Patch:
        """Return what `lakeward check --patches` lists."""
        return Patch(self.owner.replace(":", "."), self.attribute, self.layer, self.reason)

    def find_owner(self) -> Any:
        """Import and return the owner."""
        module, _, path = self.owner.partition(":")
        found: Any = importlib.import_module(module)
        for name in path.split(".") if path else ():
            found = getattr(found, name)
        return found

    def install(self, make: Make | None = None, *, owner: object = None) -> bool:
        """Add the layer; return False if it is there already.

        `make` makes the layer of a spec without its own. `owner` is the owner where it is at hand, such as a
        module that is being imported.
        """
        made = make or self.make
        if made is None:
            raise ValueError(f"{self.owner}.{self.attribute}: this layer needs `make`")
        return layers.wrap(
            owner or self.find_owner(),
            self.attribute,
            made,
            layer=self.layer,
            reason=self.reason,
            order=self.order,
        )

    def remove(self, *, owner: object = None) -> None:
        """Remove the layer; nothing happens where it is not installed.

        Tests replace modules in `sys.modules` and leave their mocks there: an owner that cannot be found any
        more has no layer to remove.
        """
        if owner is None:
            try:
                owner = self.find_owner()
            except (ImportError, AttributeError):
                return
        layers.remove(owner, self.attribute, self.layer)


def install(specs: Iterable[PatchSpec]) -> list[PatchSpec]:
    """Add all layers that have a `make`; return those that were not installed before."""
    return [spec for spec in specs if spec.make is not None and spec.install()]


def uninstall(specs: Iterable[PatchSpec]) -> None:
    """Remove all layers that have a `make`."""
    for spec in specs:
        if spec.make is not None:
            spec.remove()


@contextmanager
def applied(specs: Iterable[PatchSpec]) -> Iterator[None]:
    """Add the layers for a block; layers that were installed before it stay after it."""
    added = install(specs)
    try:
        yield
    finally:
        uninstall(added)
