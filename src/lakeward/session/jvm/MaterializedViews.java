package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Iterator;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.plans.logical.DeltaDelete;
import org.apache.spark.sql.catalyst.plans.logical.DeltaUpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.streaming.WriteToStream;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.DeltaTableUtils;
import org.apache.spark.sql.delta.commands.MergeIntoCommand;
import org.apache.spark.sql.delta.commands.TruncateDeltaTableCommand;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * The rows of a materialized view are those of its query: statements and writers of users cannot change them.
 * https://docs.databricks.com/aws/en/error-messages/error-classes has no condition for INSERT, UPDATE, DELETE and
 * MERGE; the one here is that of other statements on materialized views.
 *
 * The catalog checks targets that have a name. This rule checks those of DeltaTable and of streams.
 */
public class MaterializedViews extends SessionRule {

    private static final String METADATA = "spark.databricks.delta.commitInfo.userMetadata";

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (plan instanceof DeltaDelete) checkRelations(((DeltaDelete) plan).child(), session, "DELETE");
        if (plan instanceof DeltaUpdateTable) checkRelations(((DeltaUpdateTable) plan).child(), session, "UPDATE");
        if (plan instanceof TruncateDeltaTableCommand) checkTruncated(((TruncateDeltaTableCommand) plan).child(), session);
        if (plan instanceof WriteToStream) checkSessionTable(((WriteToStream) plan).catalogTable(), session, "INSERT");
        return plan;
    }

    /** `DeltaTable.merge` plans a command that no rule of analysis sees. */
    public static class Merges extends SessionStrategy {
        SparkPlan planned(LogicalPlan plan) {
            if (plan instanceof MergeIntoCommand) checkRelations(((MergeIntoCommand) plan).target(), SparkSession.active(), "MERGE");
            return null;
        }
    }

    private static void checkRelations(LogicalPlan target, SparkSession session, String operation) {
        Seq leaves = target.collectLeaves();
        for (int i = 0; i < leaves.length(); i++) {
            Object leaf = leaves.apply(i);
            if (leaf instanceof LogicalRelation) checkSessionTable(((LogicalRelation) leaf).catalogTable(), session, operation);
            if (!(leaf instanceof ResolvedTable)) continue;
            Table table = ((ResolvedTable) leaf).table();
            checkKind(table.properties().get(DatasetChanges.KIND), session, ShownNames.shown(table.name()), operation);
        }
    }

    /** TRUNCATE of a streaming table would change what its stream has written. */
    private static void checkTruncated(LogicalPlan target, SparkSession session) {
        checkRelations(target, session, "TRUNCATE");
        Seq leaves = target.collectLeaves();
        for (int i = 0; i < leaves.length(); i++) {
            if (!(leaves.apply(i) instanceof ResolvedTable)) continue;
            Table table = ((ResolvedTable) leaves.apply(i)).table();
            DatasetChanges.requireTable(table.properties(), session, ShownNames.shown(table.name()), "TRUNCATE", "UNSUPPORTED_OPERATION");
        }
    }

    /** The session catalog does not have the properties of Delta's tables. */
    private static void checkSessionTable(Option found, SparkSession session, String operation) {
        if (found.isEmpty()) return;
        CatalogTable table = (CatalogTable) found.get();
        if (!DeltaTableUtils.isDeltaTable(table)) return;
        Option kind = DeltaLog.forTable(session, table).unsafeVolatileSnapshot().metadata().configuration().get(DatasetChanges.KIND);
        if (kind.isDefined()) checkKind(kind.get(), session, ShownNames.shown(table.identifier().unquotedString()), operation);
    }

    /** Raise for a writer with these privileges. */
    static void checkPrivileges(Table table, SparkSession session, String name, java.util.Set privileges) {
        TreeSet operations = new TreeSet();
        for (Iterator each = privileges.iterator(); each.hasNext();) operations.add(each.next().toString());
        checkKind(table.properties().get(DatasetChanges.KIND), session, name, String.join(", ", operations));
    }

    /** Raise if the kind of a table is that of a materialized view, unless an update of a pipeline writes. */
    public static void checkKind(Object kind, SparkSession session, String name, String operation) {
        if (!DatasetChanges.VIEW.equals(kind)) return;
        // `commit_metadata` of the package pipelines: updates describe what they commit.
        if (session.conf().get(METADATA, "").indexOf("\"lakeward.update\"") >= 0) return;
        ObjectNode error = WarehouseLayout.JSON.createObjectNode().put("condition", "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED");
        error.put("sqlState", "56038");
        error.putObject("parameters").put("operation", operation);
        error.put("message", "Materialized view operation " + operation + " is not allowed: the rows of " + name
            + " are those of its query. Change its sources or its query, or write to a table.");
        throw PythonSqlBridge.error(error);
    }
}
