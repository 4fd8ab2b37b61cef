"""Run the examples in docstrings of PySpark's modules in a session of lakeward; print what differs."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pyspark
from pyspark import SparkContext
from pyspark.sql import SparkSession

from lakeward.session import session

_FAILED = re.compile(r"^ +\d+ of +\d+ in (\S+)$", re.MULTILINE)


def main(modules: list[str]) -> dict[str, list[str]]:
    """Return, for each module, the names of the objects whose examples differ, without the module's name."""
    spark = session(user_conf={"spark.master": "local[4]"})
    context, home = spark.sparkContext, Path.cwd()
    # The modules' own tests make a context, and stop it.
    patched: dict[type, dict[str, Any]] = {
        SparkSession: {"stop": lambda _: None},
        SparkContext: {
            "stop": lambda _: None,
            "__init__": lambda self, *_, **__: vars(self).update(vars(context)),
        },
    }
    for owner, attributes in patched.items():
        for name, value in attributes.items():
            setattr(owner, name, value)
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    found = {}
    for module in modules:
        os.chdir(home)
        spark.sql("USE main.default")
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
            importlib.import_module(module)._test()
        text = output.getvalue()
        found[module] = sorted({name.rpartition(".")[2] for name in _FAILED.findall(text)})
        print(text, file=sys.stderr)
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
