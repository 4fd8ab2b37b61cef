package lakeward;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.command.AddArchivesCommand;
import org.apache.spark.sql.execution.command.AddFilesCommand;
import org.apache.spark.util.Utils;
import scala.collection.immutable.Seq;

/**
 * ADD FILE and ADD ARCHIVE of a file that does not exist. Spark registers an archive before it reads it: every later
 * job of the session would fail. ADD JAR logs an error and continues, as in Spark.
 */
public class AddedFiles extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (plan instanceof AddArchivesCommand) require(session, ((AddArchivesCommand) plan).paths());
        if (plan instanceof AddFilesCommand) require(session, ((AddFilesCommand) plan).paths());
        return plan;
    }

    private static void require(SparkSession session, Seq paths) {
        for (int i = 0; i < paths.length(); i++) require(session.sparkContext().hadoopConfiguration(), (String) paths.apply(i));
    }

    /** Fails for a path of this machine without a file. */
    public static void require(Configuration conf, String path) {
        URI uri = Utils.resolveURI(path);
        String scheme = uri.getScheme();
        if (!scheme.equals("file") && !scheme.equals("dbfs")) return;
        // What follows # is the name of the folder that an archive is unpacked into.
        Path place = new Path(scheme + ":" + uri.getPath());
        try {
            if (place.getFileSystem(conf).exists(place)) return;
        } catch (IOException e) {
            return; // Spark reports it
        }
        throw PythonSqlBridge.error("PATH_NOT_FOUND", new String[] {"path", path});
    }
}
