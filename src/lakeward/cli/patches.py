"""`lakeward check --patches`: the changes that lakeward makes to other people's classes and modules."""

from __future__ import annotations

import json
from itertools import groupby


def show_patches(*, as_json: bool) -> int:
    """Print every change with its reason, the changes of one reason together."""
    from lakeward.patching import list_patches

    found = list_patches()
    if as_json:
        rows = [
            {"owner": each.owner_name, "attribute": each.attribute, "layer": each.layer, "why": each.reason}
            for each in found
        ]
        print(json.dumps({"patches": rows}, ensure_ascii=False))
        return 0
    print(f"{len(found)} changes to other people's classes and modules; each can be removed alone.")
    for reason, patches in groupby(found, key=lambda patch: patch.reason):
        print(f"\n{reason}")
        for patch in patches:
            print(f"  {patch.owner_name}.{patch.attribute}")
    return 0
