package lakeward;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.analysis.RelationTimeTravel;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedDataSource;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.sources.DeltaDataSource;
import org.apache.spark.sql.execution.datasources.DataSource;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import org.apache.spark.sql.execution.datasources.SaveIntoDataSourceCommand;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Files of a Delta table are not read and written in another format, as on Databricks: a reader would return rows
 * that were deleted, a writer would destroy the table. Nor are other files read as a Delta table. Applies to folders of
 * this machine.
 */
public class FormatCheck extends SessionRule {

    private static final String SETTING = "spark.databricks.delta.formatCheck.enabled";
    private static final String LOG = "_delta_log";
    private static final String GLOB = ".*[*?\\[{].*";
    private static final String VERSION = "@(v\\d+|\\d{17})$";
    private static final TreeNodeTag CHECKED = new TreeNodeTag("lakeward.format");
    private static final Set FORMATS = new HashSet(Arrays.asList(new Object[] {"parquet", "csv", "json", "orc", "avro", "text", "xml"}));

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (!session.sessionState().conf().getConfString(SETTING, "true").equals("true")) return plan;
        if (plan instanceof InsertIntoHadoopFsRelationCommand) {
            InsertIntoHadoopFsRelationCommand write = (InsertIntoHadoopFsRelationCommand) plan;
            check(session, write.fileFormat().toString(), write.outputPath().toString(), "write to", new HashSet());
            return plan;
        }
        if (plan instanceof SaveIntoDataSourceCommand) {
            SaveIntoDataSourceCommand write = (SaveIntoDataSourceCommand) plan;
            Option path = write.options().get("path");
            if (write.dataSource() instanceof DeltaDataSource && path.isDefined()) checkTarget(session, (String) path.get());
        }
        plan.foreach(new Reads(session));
        return plan;
    }

    public static class Reads extends AbstractFunction1 {
        private final SparkSession session;
        private final ReadPaths paths = new ReadPaths();

        Reads(SparkSession session) {
            this.session = session;
        }

        public Object apply(Object node) {
            Object plan = node instanceof RelationTimeTravel ? ((RelationTimeTravel) node).relation() : node;
            if (plan instanceof UnresolvedDataSource || plan instanceof UnresolvedRelation) {
                LogicalPlan relation = (LogicalPlan) plan;
                // Rules see a plan several times.
                if (relation.getTagValue(CHECKED).isEmpty()) check(relation);
                relation.setTagValue(CHECKED, Boolean.TRUE);
            }
            return BoxedUnit.UNIT;
        }

        private void check(LogicalPlan plan) {
            // A list of many files names few folders.
            Set known = new HashSet();
            if (plan instanceof UnresolvedDataSource) {
                UnresolvedDataSource source = (UnresolvedDataSource) plan;
                requireReader(session, source.format());
                // A stream of Delta may begin before the table.
                if (source.isStreaming() && source.format().equalsIgnoreCase("delta")) return;
                for (int i = 0; i < source.paths().length(); i++) {
                    check(source.format(), (String) source.paths().apply(i), known);
                }
                Option path = source.options().get("path");
                if (path.isDefined()) check(source.format(), (String) path.get(), known);
                return;
            }
            Seq name = ((UnresolvedRelation) plan).multipartIdentifier();
            if (name.length() != 2 || !((String) name.apply(1)).contains("/")) return;
            requireReader(session, (String) name.apply(0));
            if (plan.isStreaming() && "delta".equalsIgnoreCase((String) name.apply(0))) return;
            check((String) name.apply(0), (String) name.apply(1), known);
        }

        private void check(String format, String path, Set known) {
            paths.add(path);
            FormatCheck.check(session, format, path, "read from", known);
        }
    }

    private static void check(SparkSession session, String format, String path, String operation, Set known) {
        String lower = format.toLowerCase(Locale.ROOT);
        if (lower.equals("delta")) checkLog(session, path);
        if (!FORMATS.contains(lower) || path.contains(LOG)) return;
        Path table = table(session, path, known);
        if (table == null) return;
        throw PythonSqlBridge.error("DELTA_INVALID_FORMAT", "22000", "Incompatible format detected. A transaction log for Delta was found at `" + table + "/" + LOG
            + "`, but you are trying to " + operation + " `" + path + "` using format(\"" + lower
            + "\"). You must use 'format(\"delta\")' when reading and writing to a Delta table. Set " + SETTING
            + " to false to use its files all the same.");
    }

    /** Databricks reads Excel itself; Spark does so with a data source that the project brings. */
    private static void requireReader(SparkSession session, String format) {
        if (!format.equalsIgnoreCase("excel") || hasReader(session, format)) return;
        // Spark's own error has no next step.
        throw PythonSqlBridge.error("UNSUPPORTED_SQL", "0A000", "The format excel is not supported here in a stream or before a path: read the files with"
            + " spark.read.excel(path) or read_files(path, format => 'excel'), in a stream with the option cloudFiles.format.");
    }

    /** Whether the session has a data source of that name: a Python one, or one of its jars. */
    public static boolean hasReader(SparkSession session, String format) {
        if (session.sessionState().dataSourceManager().dataSourceExists(format)) return true;
        try {
            DataSource.lookupDataSource(format, session.sessionState().conf());
            return true;
        } catch (Exception absent) {
            return false;
        }
    }

    /** Files that are no Delta table are not read as one; Delta reports an absent table, as if there were no files. */
    private static void checkLog(SparkSession session, String given) {
        String path = given.replaceFirst(VERSION, "");
        if (path.matches(GLOB) || table(session, path, new HashSet()) != null || !exists(session, path)) return;
        throw missingLog("read from", path);
    }

    /** Delta writes no table next to files of another format. A stream may have its checkpoint in the folder. */
    private static void checkTarget(SparkSession session, String path) {
        // The folder of a table may have many files: it is not listed.
        if (table(session, path, new HashSet()) == null && hasFiles(session, path)) throw missingLog("write to", path);
    }

    private static RuntimeException missingLog(String operation, String path) {
        return PythonSqlBridge.error("DELTA_MISSING_TRANSACTION_LOG", "42K03", "Incompatible format detected. You are trying to " + operation + " `" + path
            + "` using Delta, but there is no transaction log present. Check the upstream job to make sure that it is writing using"
            + " format(\"delta\") and that you are trying to " + operation + " the table base path.");
    }

    /** True for a folder with files or partitions that are no hidden ones. */
    private static boolean hasFiles(SparkSession session, String path) {
        try {
            Path place = new Path(path);
            if (!exists(session, path)) return false;
            FileStatus[] found = place.getFileSystem(session.sparkContext().hadoopConfiguration()).listStatus(place);
            for (int i = 0; i < found.length; i++) {
                String name = found[i].getPath().getName();
                if ((found[i].isFile() || name.contains("=")) && !name.startsWith("_") && !name.startsWith(".")) return true;
            }
            return false;
        } catch (IOException e) {
            return false; // the writer reports it
        }
    }

    private static boolean exists(SparkSession session, String path) {
        try {
            Path place = new Path(path);
            return isLocal(place) && place.getFileSystem(session.sparkContext().hadoopConfiguration()).exists(place);
        } catch (IOException e) {
            return false; // the reader reports it
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static boolean isLocal(Path place) {
        String scheme = place.toUri().getScheme();
        return scheme == null || scheme.equals("file") || scheme.equals("dbfs");
    }

    /** The folder of the Delta table that a path is in; null if it is in none, as `known` folders, or not on this machine. */
    private static Path table(SparkSession session, String path, Set known) {
        try {
            String plain = path.replaceFirst("/[^/]*[*?\\[{].*", "");
            if (plain.isEmpty()) return null;
            Path place = new Path(plain);
            if (!isLocal(place)) return null;
            FileSystem files = place.getFileSystem(session.sparkContext().hadoopConfiguration());
            for (Path each = place; each != null && known.add(each); each = each.getParent()) {
                if (files.exists(new Path(each, LOG))) return each;
            }
            return null;
        } catch (IOException e) {
            return null; // the reader reports it
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
