"""A debugger stops in dataset functions, at the file and line that an editor shows (docs/editors.md)."""

from __future__ import annotations

from tests.breakpoints import Breakpoints
from tests.pipelines.conftest import Lab


def test_a_breakpoint_in_a_dataset_function_is_met_in_both_phases(lab: Lab) -> None:
    helper = lab.file("lib/helper.py", "def limit(df):\n    few = df.limit(2)\n    return few\n")
    (helper.parent / "__init__.py").write_text("")
    file = lab.file("a.py", """
        import dlt
        from lib.helper import limit

        @dlt.table
        @dlt.expect("positive", "id >= 0")
        def numbers():
            rows = spark.range(5)
            return limit(rows)
    """)  # fmt: skip
    with Breakpoints((file, "return limit"), (helper, "return few")) as debugger:
        lab.done()
    places = [(name, line) for name, line, _ in debugger.stops]
    assert places == [("a.py", 9), ("helper.py", 3)] * 2
    assert debugger.stops[0][2]["rows"].columns == ["id"]
