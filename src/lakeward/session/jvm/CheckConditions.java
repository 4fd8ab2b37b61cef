package lakeward;

import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.AlterTableAddConstraint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.SparkSession;

/** A CHECK constraint with a subquery is refused: Delta adds it to a table without rows, and then every INSERT fails. */
public class CheckConditions extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (!(plan instanceof AlterTableAddConstraint)) return plan;
        String condition = ((AlterTableAddConstraint) plan).expr();
        try {
            if (!session.sessionState().sqlParser().parseExpression(condition).containsPattern(TreePattern.PLAN_EXPRESSION())) return plan;
        } catch (ParseException e) {
            return plan;
        }
        throw PythonSqlBridge.error("DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT", "42621",
            "Found a subquery in a CHECK constraint: " + condition + ". A subquery cannot be used in a CHECK constraint.");
    }
}
