"""Settings reach a new JVM in files that only their owner can read, whatever characters they have."""

from __future__ import annotations

import shlex
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

from lakeward.session.jvm.jvm_launcher import argument_file, direct_command, properties_file, submit_arguments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONF = {
    **{f"spark.x{ord(char):x}": f"a{char}{char}b" for char in "\\=:#! \t\n\r\f\"'&<>${}%é漢😀"},
    "spark.odd:na=me #": "=",
    "spark.continued": "ends with a backslash\\",
    "spark.lines": "one\ntwo\\nthree\r\nfour",
    "spark.empty": "",
}


def read(spark: SparkSession, file: str) -> dict[str, str]:
    """The file as spark-submit reads it."""
    jvm: Any = spark._jvm
    path = jvm.java.io.File(file).toPath()
    properties = jvm.java.util.Properties()
    reader = jvm.java.nio.file.Files.newBufferedReader(path)
    properties.load(reader)
    reader.close()
    return {name: properties.getProperty(name) for name in properties.stringPropertyNames()}


def test_java_reads_the_settings_that_were_written(spark: SparkSession, tmp_path: Path) -> None:
    option, file, *defaults = properties_file(CONF, tmp_path)
    assert (option, defaults) == ("--properties-file", ["--load-spark-defaults"])
    assert stat.S_IMODE(Path(file).stat().st_mode) == 0o600
    assert read(spark, file) == CONF


def test_a_properties_file_of_the_user_s_is_included(spark: SparkSession, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.conf"
    theirs.write_text("spark.theirs 1\nspark.empty 2")
    for option in (f"--properties-file {theirs}", f"--properties-file={theirs}"):
        words = shlex.split(submit_arguments(CONF, tmp_path, f"--verbose {option} pyspark-shell"))
        assert words[2:] == ["--verbose", "pyspark-shell"]
        assert read(spark, words[1]) == {**CONF, "spark.theirs": "1"}


def test_no_setting_is_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "lakeward.session.jvm.jvm_launcher._options_file", lambda _: _written(tmp_path / "options", "-Dx=y")
    )
    for name in ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    conf = {
        "spark.master": "local[2]",
        "spark.app.password": "c4nary-1",
        "spark.hadoop.fs.key": "c4nary-2",
        "spark.driver.extraJavaOptions": "-Dmy.password=c4nary-3",
    }
    command = direct_command(conf, "4.2.0", tmp_path)
    assert command is not None
    assert "c4nary" not in " ".join(command)
    assert "c4nary-1" in (tmp_path / "spark.properties").read_text()
    assert "c4nary-2" not in (tmp_path / "spark.properties").read_text()
    assert (tmp_path / "java.options").read_text() == '"-Dmy.password=c4nary-3"\n'
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob("*.*")} == {0o600}
    assert "c4nary" not in submit_arguments(conf, tmp_path, "")


def test_options_are_quoted_for_java(tmp_path: Path) -> None:
    assert argument_file([], tmp_path) == []
    (argument,) = argument_file(['-Da=b c\\d "e"', "-Df=g\nh"], tmp_path)
    assert Path(argument[1:]).read_text() == '"-Da=b c\\\\d \\"e\\""\n"-Df=g\\nh"\n'


def _written(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def test_spark_s_ports_need_its_secret(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    address = jvm.org.apache.spark.rpc.RpcAddress("127.0.0.1", int(spark.conf.get("spark.driver.port") or 0))
    manager = jvm.org.apache.spark.SecurityManager
    defaults = [getattr(manager, f"$lessinit$greater$default${number}")() for number in (2, 3)]
    conf = jvm.org.apache.spark.SparkConf(False).set("spark.rpc.lookupTimeout", "3s")
    other = jvm.org.apache.spark.rpc.RpcEnv.create(
        "other", "127.0.0.1", 0, conf, manager(conf, *defaults), True
    )
    try:
        with pytest.raises(Py4JJavaError):
            other.setupEndpointRef(address, "HeartbeatReceiver")
    finally:
        other.shutdown()
    assert spark.conf.get("spark.authenticate") == "true"
    assert "spark.authenticate.secret" not in dict(spark.sparkContext.getConf().getAll())
