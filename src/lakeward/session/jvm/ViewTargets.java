package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation$;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.QuotingUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Statements that write to a view: INSERT, UPDATE, DELETE, MERGE and writers. A catalog has no table of that name, so
 * that Spark's error would be TABLE_OR_VIEW_NOT_FOUND.
 */
public class ViewTargets extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        plan.foreach(new Targets(session));
        return plan;
    }

    public static class Targets extends AbstractFunction1 {
        private final SparkSession session;

        Targets(SparkSession session) {
            this.session = session;
        }

        public Object apply(Object node) {
            Object target = node;
            if (node instanceof InsertIntoStatement) target = ((InsertIntoStatement) node).table();
            if (node instanceof V2WriteCommand) target = ((V2WriteCommand) node).table();
            if (target instanceof UnresolvedRelation) require((UnresolvedRelation) target, target != node);
            return BoxedUnit.UNIT;
        }

        private void require(UnresolvedRelation relation, boolean isTarget) {
            String privileges = relation.options().get(UnresolvedRelation$.MODULE$.REQUIRED_WRITE_PRIVILEGES());
            if (!isTarget && privileges == null) return;
            CatalogTable found = CatalogTable.find(session, relation.multipartIdentifier());
            if (!RelationKind.isView(found)) return;
            String name = found.catalog.name() + "`.`" + found.identifier.namespace()[0] + "`.`" + found.identifier.name();
            ObjectNode error = WarehouseLayout.JSON.createObjectNode();
            error.put("condition", "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE");
            error.put("sqlState", "42809");
            ObjectNode parameters = error.putObject("parameters");
            parameters.put("viewName", "`" + name + "`");
            parameters.put("operation", privileges == null ? "INSERT" : privileges);
            error.put("message", "'" + parameters.get("operation").asText() + "' expects a table but `" + name + "` is a view.");
            throw PythonSqlBridge.error(error);
        }
    }

    /**
     * Rows of a temporary view that reads no table, such as one of VALUES, cannot be changed. Spark's planner has an
     * internal error for DELETE, and no name in the message for UPDATE and MERGE; the condition is that of these.
     */
    public static class WithoutTable extends SessionRule {

        TreeNode rewritten(LogicalPlan plan, SparkSession session) {
            if (plan instanceof DeleteFromTable) require(((DeleteFromTable) plan).table(), "DELETE");
            if (plan instanceof UpdateTable) require(((UpdateTable) plan).table(), "UPDATE");
            if (plan instanceof MergeIntoTable) require(((MergeIntoTable) plan).targetTable(), "MERGE INTO TABLE");
            return plan;
        }

        private static void require(LogicalPlan target, String operation) {
            if (!(target instanceof SubqueryAlias)) return;
            Object leaf = target.collectLeaves().head();
            if (leaf instanceof LogicalRelation || leaf instanceof DataSourceV2Relation || leaf instanceof UnresolvedRelation) return;
            LogicalPlan named = target;
            // The alias of the statement is around that of the view.
            while (((SubqueryAlias) named).child() instanceof SubqueryAlias) named = ((SubqueryAlias) named).child();
            String name = QuotingUtils.quoteIdentifier(((SubqueryAlias) named).identifier().name());
            throw PythonSqlBridge.error("UNSUPPORTED_FEATURE.TABLE_OPERATION", new String[] {"tableName", name, "operation", operation});
        }
    }
}
