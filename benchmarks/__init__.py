"""Benchmarks: lakeward and its peer in one run, interleaved; medians and their ratio.

`python -m benchmarks [GLOB]… [--rounds N] [--json]`. A case is a function in `benchmarks/cases/`:

    @case("area.name", goal=0.5)
    @contextmanager
    def name(folder: Path) -> Iterator[Sides]:
        ...                     # make the input, below `folder`
        yield Sides(ours=..., peer=...)
"""

from benchmarks.registry import Case, Sides, case, load_cases, matching

__all__ = ["Case", "Sides", "case", "load_cases", "matching"]
