package lakeward;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedDataSource;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.PartialFunction;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * `spark.read` and `spark.readStream` with `rescuedDataColumn` or `badRecordsPath`, which Spark's readers ignore. Spark
 * resolves the columns; Auto Loader's readers read the files (autoloader/rescued_files.py).
 */
public class FileRescue extends SessionRule {

    private static final String COLUMN = "rescuedDataColumn";
    private static final String BAD_RECORDS = "badRecordsPath";
    private static final Set RESCUING = names(new String[] {"csv", "json", "xml", "parquet", "avro"});
    private static final Set READABLE = names(new String[] {"csv", "json", "xml", "parquet", "avro", "orc", "text"});

    private static Set names(String[] values) {
        return new HashSet(Arrays.asList((Object[]) values));
    }

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.resolveOperators((PartialFunction) new Sources(session));
    }

    public static class Sources extends NodeRewrite {
        private final SparkSession session;

        Sources(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object node) {
            if (!(node instanceof UnresolvedDataSource)) return false;
            UnresolvedDataSource source = (UnresolvedDataSource) node;
            // Spark reports the missing schema of a stream.
            if (source.isStreaming() && source.userSpecifiedSchema().isEmpty()) return false;
            String format = format(source);
            return (isSet(source, COLUMN) && RESCUING.contains(format)) || (isSet(source, BAD_RECORDS) && READABLE.contains(format));
        }

        Object replacement(Object node) {
            return read((UnresolvedDataSource) node);
        }

        private LogicalPlan read(UnresolvedDataSource source) {
            CaseInsensitiveMap options = source.options();
            StructType schema = source.isStreaming() ? (StructType) source.userSpecifiedSchema().get() : resolved(source);
            ObjectNode call = WarehouseLayout.JSON.createObjectNode().put("name", "function.rescued_files");
            ObjectNode arguments = call.putObject("arguments");
            arguments.put("format", format(source)).put("is_streaming", source.isStreaming()).put("schema", schema.json());
            ArrayNode paths = arguments.putArray("paths");
            for (int i = 0; i < source.paths().length(); i++) paths.add((String) source.paths().apply(i));
            ObjectNode given = arguments.putObject("options");
            Iterator all = options.iterator();
            while (all.hasNext()) {
                Tuple2 one = (Tuple2) all.next();
                given.put((String) one._1(), (String) one._2());
            }
            return ((Dataset) SqlFunctions.ask(call, session)).queryExecution().analyzed();
        }

        /** The columns that Spark's reader has without the two options. */
        private StructType resolved(UnresolvedDataSource source) {
            CaseInsensitiveMap plain = (CaseInsensitiveMap) source.options().removed(COLUMN);
            // A malformed record must not give a column of its own to what is inferred.
            if (isSet(source, BAD_RECORDS)) plain = ((CaseInsensitiveMap) plain.removed(BAD_RECORDS)).$plus(new Tuple2("mode", "DROPMALFORMED"));
            return Dataset.ofRows(session, new UnresolvedDataSource(format(source), source.userSpecifiedSchema(), plain, false, source.paths())).schema();
        }
    }

    private static String format(UnresolvedDataSource source) {
        String name = source.format().toLowerCase(Locale.ROOT);
        return name.equals("com.databricks.spark.xml") ? "xml" : name;
    }

    private static boolean isSet(UnresolvedDataSource source, String option) {
        Option value = source.options().get(option);
        return value.isDefined() && !((String) value.get()).isEmpty();
    }
}
