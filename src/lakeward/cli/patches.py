"""`lakeward check --patches`: the changes that lakeward makes to other people's classes and modules."""

from __future__ import annotations

import json
from itertools import groupby

__all__ = ["show_patches"]


def show_patches(*, as_json: bool) -> int:
    """Print every change with its reason, the changes of one reason together."""
    from lakeward.session import every_change

    found = every_change()
    if as_json:
        rows = [{"owner": each.owner_name, "attribute": each.attribute, "why": each.why} for each in found]
        print(json.dumps({"patches": rows}, ensure_ascii=False))
        return 0
    print(f"{len(found)} changes to other people's classes and modules, each of which is taken back.")
    for why, patches in groupby(found, key=lambda patch: patch.why):
        print(f"\n{why}")
        for each in patches:
            print(f"  {each.owner_name}.{each.attribute}")
    return 0
