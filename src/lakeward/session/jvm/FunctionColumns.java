package lakeward;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.SparkSession;

/**
 * The name of a column that calls a function of SQL has the function's name: catalog, schema and function, and not
 * the database of Spark's session catalog, which joins the first two (`IdentifierCodec`).
 */
public class FunctionColumns extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.containsPattern(TreePattern.ALIAS()) ? plan.resolveExpressions(new Named()) : plan;
    }

    /** Renames the column, and the references that Spark made in the same pass over the plan. */
    public static class Named extends NodeRewrite {
        public boolean isDefinedAt(Object e) {
            if (!(e instanceof Alias || e instanceof AttributeReference)) return false;
            String name = ((NamedExpression) e).name();
            return !ShownNames.shown(name).equals(name);
        }

        Object replacement(Object e) {
            String name = ShownNames.shown(((NamedExpression) e).name());
            return e instanceof Alias ? ((Alias) e).withName(name) : ((AttributeReference) e).withName(name);
        }
    }
}
