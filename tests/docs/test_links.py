"""Links of pages: what `make lint` finds."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.trees import write_files

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))

from links import broken_links, headings, repeated_headings  # noqa: E402  # a script, not a package


def test_files_pictures_and_headings_have_to_exist(tmp_path: Path) -> None:
    page = """# Start here

## What `it` does, and why
## Twice
## Twice

[good](docs/a.md) [anchor](docs/a.md#the-end) [own](#what-it-does-and-why) [second](#twice-1)
![good](docs/p.png) [web](https://example.com/none) `[code](none.md)`

```
[in a block](none.md)
```

[file](docs/none.md) [heading](docs/a.md#none) [own](#none) ![picture](docs/none.png) [third](#twice-2)
"""
    write_files(tmp_path, {"README.md": page, "docs/a.md": "# A\n\n## The end\n", "docs/p.png": ""})
    assert list(broken_links(tmp_path)) == [
        "README.md: docs/none.md",
        "README.md: docs/a.md#none",
        "README.md: #none",
        "README.md: docs/none.png",
        "README.md: #twice-2",
    ]


def test_declared_anchors_count(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text('<a id="SDP-1"></a>\n# [Name](x.md) of it\n')
    assert headings(tmp_path / "a.md") == {"SDP-1", "name-of-it"}


def test_a_page_has_one_title_and_each_section_once(tmp_path: Path) -> None:
    good = "# A\n\n## One\n\n### Twice\n\n## Two\n\n### Twice\n\n```sh\n# comment\n# comment\n```\n"
    write_files(tmp_path, {"README.md": good, "docs/a.md": f"{good}# B\n\n## Two\n"})
    assert list(repeated_headings(tmp_path)) == ["docs/a.md: # B", "docs/a.md: ## Two"]
