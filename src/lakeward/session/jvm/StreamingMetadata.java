package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.streaming.StreamingSourceIdentifyingName;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.sources.DeltaDataSource;
import org.apache.spark.sql.execution.datasources.DataSource;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation;
import scala.Option;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/**
 * The hidden column `_metadata` of streams that read Delta tables. Spark gives it to streams of its own file formats
 * and fills it in the micro-batches of every source; to Delta it gives it in batch queries alone.
 */
public class StreamingMetadata extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.isStreaming() ? plan.resolveOperatorsUp(new OfDelta()) : plan;
    }

    public static class OfDelta extends NodeRewrite {
        public boolean isDefinedAt(Object node) {
            if (node.getClass() != StreamingRelation.class) return false;
            StreamingRelation relation = (StreamingRelation) node;
            return relation.dataSource().providingInstance() instanceof DeltaDataSource
                && !readsChanges(relation.dataSource().options());
        }

        Object replacement(Object node) {
            StreamingRelation r = (StreamingRelation) node;
            StreamingTable changed = new StreamingTable(r.dataSource(), r.sourceName(), r.output(), r.sourceIdentifyingName());
            changed.copyTagsFrom(r);
            return changed;
        }

        /** Rows of the change data feed come from several kinds of files. */
        private static boolean readsChanges(Map options) {
            Map plain = (Map) CaseInsensitiveMap$.MODULE$.apply(options);
            return isTrue(plain, DeltaDataSource.CDC_ENABLED_KEY()) || isTrue(plain, DeltaDataSource.CDC_ENABLED_KEY_LEGACY());
        }

        private static boolean isTrue(Map options, String key) {
            Option value = options.get(key);
            return value.isDefined() && "true".equalsIgnoreCase(value.get().toString());
        }
    }

    /** A stream of a Delta table whose queries may name `_metadata`. */
    public static class StreamingTable extends StreamingRelation {
        private transient Seq files;

        public StreamingTable(DataSource source, String sourceName, Seq output, StreamingSourceIdentifyingName name) {
            super(source, sourceName, output, name);
        }

        public Seq metadataOutput() {
            if (files == null) {
                List columns = new ArrayList();
                if (!hasFiles(output())) columns.add(format().createFileMetadataCol());
                files = metadataOutputWithOutConflicts(PythonUtils.toSeq(columns), true);
            }
            return files;
        }

        /** Whether the column is already among those that are read. */
        private static boolean hasFiles(Seq output) {
            for (int i = 0; i < output.length(); i++) {
                if (((Attribute) output.apply(i)).metadata().contains("__file_source_metadata_col")) return true;
            }
            return false;
        }

        /** The format of the table's files, which decides the fields: row tracking adds some. */
        private FileFormat format() {
            DataSource source = dataSource();
            DeltaLog log = source.catalogTable().isDefined()
                ? DeltaLog.forTable(source.sparkSession(), (CatalogTable) source.catalogTable().get())
                : DeltaLog.forTable(source.sparkSession(),
                    new Path(((Map) CaseInsensitiveMap$.MODULE$.apply(source.options())).apply("path").toString()), source.options());
            Snapshot snapshot = log.unsafeVolatileSnapshot();
            return log.fileFormat(snapshot.protocol(), snapshot.metadata());
        }

        /** Renamed streams, and both sides of a self-join, stay such streams. */
        public StreamingRelation copy(DataSource source, String sourceName, Seq output, StreamingSourceIdentifyingName name) {
            return new StreamingTable(source, sourceName, output, name);
        }

        /** A node replaces another one only if they differ, as this one and Spark's must. */
        public boolean equals(Object other) {
            return other instanceof StreamingTable && super.equals(other);
        }

        public int hashCode() {
            return super.hashCode();
        }

        public boolean canEqual(Object other) {
            return other instanceof StreamingTable;
        }
    }
}
