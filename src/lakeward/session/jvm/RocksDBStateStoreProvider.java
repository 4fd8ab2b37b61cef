package com.databricks.sql.streaming.state;

/**
 * The name by which code on Databricks chooses RocksDB for the state of streams:
 * spark.sql.streaming.stateStore.providerClass.
 */
public class RocksDBStateStoreProvider
        extends org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider {}
