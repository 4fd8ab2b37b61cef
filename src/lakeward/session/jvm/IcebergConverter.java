package org.apache.spark.sql.delta.icebergShaded;

import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.delta.CommittedTransaction;
import org.apache.spark.sql.delta.CurrentTransactionInfo;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.UniversalFormatConverter;

/**
 * Replaces the class of Delta's Iceberg jar, which Delta loads by this name when it commits to a table with
 * delta.universalFormat.enabledFormats. The rows are the same without it: no Iceberg metadata is written.
 */
public class IcebergConverter extends UniversalFormatConverter {
    public void enqueueSnapshotForConversion(Snapshot snapshot, CommittedTransaction transaction) {}

    /** The place of the Iceberg metadata, which only catalogs that coordinate commits read, and the last version. */
    public scala.Tuple2 convertUncommitedTxn(
            CurrentTransactionInfo transaction, long version, DeltaLog log, CatalogTable table) {
        return new scala.Tuple2("", scala.Option.empty());
    }

    public scala.Option convertSnapshot(Snapshot snapshot, CommittedTransaction transaction) {
        return scala.Option.empty();
    }

    public scala.Option convertSnapshot(Snapshot snapshot, CatalogTable table) {
        return scala.Option.empty();
    }

    public scala.Option loadLastDeltaVersionConverted(Snapshot snapshot, CatalogTable table) {
        return scala.Option.empty();
    }
}
