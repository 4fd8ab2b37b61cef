package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.execution.datasources.v2.python.PythonStreamingInputPartition;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Auto Loader's Python source with a second way to read files. The Python source discovers files, assigns them to
 * batches and groups them into partitions. It marks the partitions whose files Spark's own readers of Parquet and Avro
 * read with the same result; {@link AutoLoaderScan} reads these in the JVM. All others go to Python workers.
 */
public class AutoLoaderTable extends DelegatingTable implements SupportsRead {

    private final AutoLoaderScan.Layout layout;

    AutoLoaderTable(Table python, AutoLoaderScan.Layout layout) {
        super(python);
        this.layout = layout;
    }

    /** The stream with this table in place of the Python source's; `layout` as in scan_layout.py. */
    public static Dataset over(Dataset stream, String layout) throws IOException {
        StreamingRelationV2 relation = (StreamingRelationV2) stream.queryExecution().analyzed();
        JsonNode parsed = WarehouseLayout.JSON.readTree(layout);
        Table table = new AutoLoaderTable(relation.table(), AutoLoaderScan.Layout.of(parsed, relation.table().schema()));
        LogicalPlan changed = relation.copy(relation.source(), relation.sourceName(), table, relation.extraOptions(), relation.output(),
            relation.catalog(), relation.identifier(), relation.v1Relation(), relation.sourceIdentifyingName());
        return Dataset.ofRows((SparkSession) stream.sparkSession(), changed);
    }

    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        final Scan scan = ((SupportsRead) described).newScanBuilder(options).build();
        return new ScanBuilder() {
            public Scan build() {
                return new Files(scan, layout);
            }
        };
    }

    /** Mixed batches are read as rows: Spark takes either rows or columns from a scan. */
    public static class Files implements Scan {
        private final Scan python;
        private final AutoLoaderScan.Layout layout;

        Files(Scan python, AutoLoaderScan.Layout layout) {
            this.python = python;
            this.layout = layout;
        }

        public StructType readSchema() {
            return python.readSchema();
        }

        public String description() {
            return "Auto Loader (" + layout.format + ")";
        }

        public CustomMetric[] supportedCustomMetrics() {
            return python.supportedCustomMetrics();
        }

        public MicroBatchStream toMicroBatchStream(String checkpoint) {
            return new Batches((SupportsTriggerAvailableNow) python.toMicroBatchStream(checkpoint), layout);
        }
    }

    /** Offsets, limits and state are the Python source's. */
    public static class Batches implements MicroBatchStream, SupportsTriggerAvailableNow {
        private final SupportsTriggerAvailableNow python;
        private final AutoLoaderScan.Layout layout;
        /** Whether a batch planned last needs Python workers, whose preparation takes a process. */
        private boolean needsPython = true;

        Batches(SupportsTriggerAvailableNow python, AutoLoaderScan.Layout layout) {
            this.python = python;
            this.layout = layout;
        }

        public InputPartition[] planInputPartitions(Offset start, Offset end) {
            InputPartition[] planned = ((MicroBatchStream) python).planInputPartitions(start, end);
            InputPartition[] partitions = new InputPartition[planned.length];
            needsPython = false;
            for (int i = 0; i < planned.length; i++) {
                InputPartition scan = AutoLoaderScan.Partition.of((PythonStreamingInputPartition) planned[i]);
                partitions[i] = scan == null ? planned[i] : scan;
                needsPython |= scan == null;
            }
            for (int i = 0; i < planned.length; i++) {
                if (partitions[i] instanceof AutoLoaderScan.Partition) ((AutoLoaderScan.Partition) partitions[i]).mixed = needsPython;
            }
            return partitions;
        }

        /** Spark calls this after it has planned the partitions of the batch. */
        public PartitionReaderFactory createReaderFactory() {
            PartitionReaderFactory workers = needsPython ? ((MicroBatchStream) python).createReaderFactory() : null;
            return AutoLoaderScan.Readers.of(SparkSession.active(), layout, workers);
        }

        public Offset initialOffset() {
            return python.initialOffset();
        }

        public Offset latestOffset() {
            return ((MicroBatchStream) python).latestOffset();
        }

        public Offset latestOffset(Offset start, ReadLimit limit) {
            needsPython = true;
            return python.latestOffset(start, limit);
        }

        public ReadLimit getDefaultReadLimit() {
            return python.getDefaultReadLimit();
        }

        public Offset reportLatestOffset() {
            return python.reportLatestOffset();
        }

        public void prepareForTriggerAvailableNow() {
            python.prepareForTriggerAvailableNow();
        }

        public Offset deserializeOffset(String json) {
            return python.deserializeOffset(json);
        }

        public void commit(Offset end) {
            python.commit(end);
        }

        public void stop() {
            python.stop();
        }

        public String toString() {
            return python.toString();
        }
    }
}
