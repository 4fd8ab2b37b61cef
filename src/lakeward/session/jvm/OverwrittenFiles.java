package lakeward;

import java.io.File;
import java.io.IOException;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.collection.immutable.Seq;

/**
 * Writers that overwrite files which their query reads. Spark deletes the files first, and the rows are lost. The
 * platform deletes them when it commits the new ones. Here the rows are computed before.
 */
public class OverwrittenFiles extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (!(plan instanceof InsertIntoHadoopFsRelationCommand)) return plan;
        InsertIntoHadoopFsRelationCommand command = (InsertIntoHadoopFsRelationCommand) plan;
        LogicalPlan query = command.query();
        if (command.mode() != SaveMode.Overwrite || !reads(query, command.outputPath(), session.sessionState().newHadoopConf())) return plan;
        Dataset rows = (Dataset) Dataset$.MODULE$.ofRows(session, query).localCheckpoint(true);
        return plan.withNewChildren(PythonUtils.toSeq(Collections.singletonList(rows.logicalPlan())));
    }

    private static boolean reads(LogicalPlan query, Path written, Configuration conf) {
        String folder = place(written, conf);
        Seq leaves = query.collectLeaves();
        for (int i = 0; i < leaves.length(); i++) {
            if (reads(leaves.apply(i), folder, conf)) return true;
        }
        Seq inner = query.subqueriesAll();
        for (int i = 0; i < inner.length(); i++) {
            if (reads((LogicalPlan) inner.apply(i), written, conf)) return true;
        }
        return false;
    }

    private static boolean reads(Object leaf, String folder, Configuration conf) {
        if (!(leaf instanceof LogicalRelation) || !(((LogicalRelation) leaf).relation() instanceof HadoopFsRelation)) return false;
        Seq roots = ((HadoopFsRelation) ((LogicalRelation) leaf).relation()).location().rootPaths();
        for (int i = 0; i < roots.length(); i++) {
            String root = place((Path) roots.apply(i), conf);
            if (root.startsWith(folder) || folder.startsWith(root)) return true;
        }
        return false;
    }

    /** The path as the same text for each spelling, with a slash at its end. */
    private static String place(Path path, Configuration conf) {
        try {
            FileSystem files = path.getFileSystem(conf);
            if (files instanceof LocalFileSystem) return ((LocalFileSystem) files).pathToFile(path).getCanonicalPath() + File.separator;
            return files.makeQualified(path) + Path.SEPARATOR;
        } catch (IOException e) {
            throw WarehouseCatalog.sneak(e);
        }
    }
}
