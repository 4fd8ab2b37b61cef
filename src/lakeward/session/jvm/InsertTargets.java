package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.NamedRelation;
import org.apache.spark.sql.catalyst.analysis.PlanWithUnresolvedIdentifier;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction2;

/**
 * INSERT INTO IDENTIFIER(expression). Spark's parser evaluates operators on literals at once. Other expressions, such
 * as CONCAT_WS, it leaves in the target, which is no child of the statement, so that no rule resolves them. Here the
 * unresolved name becomes the parent of the statement, as Spark's parser has it for all other statements.
 */
public class InsertTargets extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return named(plan, session);
    }

    private static LogicalPlan named(LogicalPlan plan, SparkSession session) {
        LogicalPlan target = target(plan);
        if (target instanceof PlanWithUnresolvedIdentifier) {
            PlanWithUnresolvedIdentifier missing = (PlanWithUnresolvedIdentifier) target;
            return new PlanWithUnresolvedIdentifier(missing.identifierExpr(), plan.children(), new Builder(plan, missing, session));
        }
        // Several INSERT of one FROM are a union.
        if (!(plan instanceof Union || plan instanceof WithCTE)) return plan;
        List children = new ArrayList();
        boolean isChanged = false;
        for (int i = 0; i < plan.children().length(); i++) {
            LogicalPlan child = (LogicalPlan) plan.children().apply(i);
            children.add(named(child, session));
            isChanged = isChanged || children.get(i) != child;
        }
        return isChanged ? (LogicalPlan) plan.withNewChildren(PythonUtils.toSeq(children)) : plan;
    }

    private static LogicalPlan target(LogicalPlan plan) {
        if (plan instanceof InsertIntoStatement) return ((InsertIntoStatement) plan).table();
        return plan instanceof V2WriteCommand ? (LogicalPlan) ((V2WriteCommand) plan).table() : null;
    }

    /** Builds the statement with the table that the evaluated name means. */
    public static class Builder extends AbstractFunction2 {

        private final LogicalPlan statement;
        private final PlanWithUnresolvedIdentifier missing;
        private final SparkSession session;

        Builder(LogicalPlan statement, PlanWithUnresolvedIdentifier missing, SparkSession session) {
            this.statement = statement;
            this.missing = missing;
            this.session = session;
        }

        public Object apply(Object name, Object children) {
            LogicalPlan table = (LogicalPlan) missing.planBuilder().apply(name, missing.children());
            LogicalPlan query = (LogicalPlan) ((Seq) children).apply(0);
            if (statement instanceof V2WriteCommand) {
                return ((V2WriteCommand) ((V2WriteCommand) statement).withNewQuery(query)).withNewTable((NamedRelation) table);
            }
            InsertIntoStatement insert = (InsertIntoStatement) statement;
            return ColumnDefaults.in(insert.copy(table, insert.partitionSpec(), insert.userSpecifiedCols(), query, insert.overwrite(),
                insert.ifPartitionNotExists(), insert.byName(), insert.replaceCriteriaOpt(), insert.withSchemaEvolution()), session);
        }
    }
}
