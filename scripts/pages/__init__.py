"""Write the generated pages of docs/: `make docs`.

Pages are generated as a whole, apart from `your-repository.md`: there it is the table of left-out packages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.autoloader import rules as autoloader_rules
from tests.pipelines import rules as pipeline_rules
from tests.workspace import client_routes

from lakeward.bundle import load, summarize_bundle
from pages import (
    auto_loader_options,
    bundle,
    doctor,
    left_out_packages,
    notebooks,
    pipeline_sources,
    pipelines,
    sessions,
    sql,
    streaming,
    surroundings,
    troubleshooting,
    workspace,
)

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def write_pages() -> None:
    """Write the pages that differ from their source and print their names."""
    for name, generate in {**GENERATED, "troubleshooting.md": troubleshooting.as_markdown}.items():
        page, text = DOCS / name, generate()
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
            print(page.relative_to(ROOT))


def reference_bundle() -> str:
    """Return the page with both targets of this repository's bundle."""
    head = (
        "# The reference bundle, resolved\n\n"
        "Made of `databricks.yml` and `resources/`, for the user `ann@example.com`.\n\n"
    )
    sections = [
        _summary_section(summarize_bundle(load(ROOT, target, user="ann@example.com", environ={})))
        for target in ("dev", "prod")
    ]
    return head + "\n".join(sections)


def _summary_section(summary: Mapping[str, Any]) -> str:
    """Return the summary of one target as a section."""
    mode = f", mode {summary['mode']}" if summary["mode"] else ""
    lines = [f"## `{summary['target']}`{mode}", "", f"Deployed to `{summary['root_path']}`.", ""]
    lines += ["| resource | name | what |", "|---|---|---|"]
    for kind, resources in summary["resources"].items():
        for key, resource in resources.items():
            facts = [
                f"starts: {timer['when']}{', paused' if timer['paused'] else ''}"
                for timer in resource.get("starts") or ()
            ]
            facts += [
                f"{field}: {resource[field]}" for field in ("tasks", "writes", "run_as") if field in resource
            ]
            lines.append(f"| {kind}.{key} | `{resource['name']}` | {'; '.join(facts)} |")
    return "\n".join(lines) + "\n"


def your_repository() -> str:
    """Return the page with its table of left-out packages replaced."""
    page = (DOCS / "your-repository.md").read_text(encoding="utf-8")
    table = left_out_packages.as_markdown()
    before, head, rest = page.partition(table.partition("\n")[0])
    if not head:
        raise ValueError("docs/your-repository.md has no table of left-out packages")
    return before + table + rest[rest.index("\n\n") + 1 :]


GENERATED: Mapping[str, Callable[[], str]] = {
    "auto-loader-options.md": auto_loader_options.as_markdown,
    "auto-loader-rules.md": autoloader_rules.as_markdown,
    "bundle.md": bundle.as_markdown,
    "doctor.md": doctor.as_markdown,
    "notebooks.md": notebooks.as_markdown,
    "pipeline-sources.md": pipeline_sources.as_markdown,
    "pipelines-compatibility.md": pipeline_rules.as_markdown,
    "pipelines.md": pipelines.as_markdown,
    "reference-bundle.md": reference_bundle,
    "sessions.md": sessions.as_markdown,
    "sql.md": sql.as_markdown,
    "streaming.md": streaming.as_markdown,
    "surroundings.md": surroundings.as_markdown,
    "workspace.md": lambda: workspace.as_markdown(client_routes.by_client()),
    "your-repository.md": your_repository,
}
"""The function that returns the text of each generated page, which has to equal it.

`troubleshooting.md` is written, too, and has to name every condition; messages may be newer than the page."""
