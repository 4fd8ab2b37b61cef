"""Every change to a class, module or list that belongs to Python, PySpark, Delta or another library.

An attribute has a chain of named layers; `PatchSpec` declares one layer as data, `install` puts declared
layers in force, and `list_patches` returns all declarations without installing any of them.
Importing this package imports no PySpark.
"""

from __future__ import annotations

from lakeward.patching.import_hooks import (
    AfterImport,
    call_after_import,
    find_behind,
    is_replacing,
    replacing_spec,
)
from lakeward.patching.inventory import declared_specs, list_patches
from lakeward.patching.layers import (
    Order,
    Patch,
    Wrapped,
    insert_entry,
    installed_patches,
    original,
    owner_name,
    remove,
    remove_all,
    remove_entry,
    temporary,
    wrap,
)
from lakeward.patching.specs import PatchSpec, applied, install, uninstall
