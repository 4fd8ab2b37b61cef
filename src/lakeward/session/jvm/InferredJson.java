package lakeward;

import java.util.Arrays;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.python.UserDefinedPythonFunction;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * from_json(text, NULL, options): pipelines infer the schema and evolve it. The call becomes a function of its own,
 * which Python replaces by a parser with the schema that is stored for the key; elsewhere it is Spark's from_json,
 * which refuses the NULL.
 * Source: https://docs.databricks.com/aws/en/ldp/from-json-schema-evolution
 */
public class InferredJson extends SessionRule {

    private static final String FUNCTION = "from_json";
    public static final String CALL = "lakeward_from_json";
    private static final Inferring INFERRING = new Inferring();

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.containsPattern(TreePattern.UNRESOLVED_FUNCTION()) ? plan.transformAllExpressions(INFERRING) : plan;
    }

    public static class Inferring extends NodeRewrite {

        public boolean isDefinedAt(Object e) {
            if (!(e instanceof UnresolvedFunction)) return false;
            UnresolvedFunction call = (UnresolvedFunction) e;
            if (call.nameParts().length() != 1 || !FUNCTION.equalsIgnoreCase((String) call.nameParts().apply(0))) return false;
            if (call.arguments().length() != 3 || !(call.arguments().apply(1) instanceof Literal)) return false;
            return ((Literal) call.arguments().apply(1)).value() == null;
        }

        Object replacement(Object e) {
            UnresolvedFunction call = (UnresolvedFunction) e;
            return new UnresolvedFunction(PythonUtils.toSeq(Arrays.asList(new Object[] {CALL})), call.arguments(), false,
                ObjectDefinitions.none(), ObjectDefinitions.none(), ObjectDefinitions.seq(null), false);
        }
    }

    /** Called by Spark after the arguments are resolved. */
    public static class Builder extends AbstractFunction1 {
        public Object apply(Object arguments) {
            Seq all = (Seq) arguments;
            Object parser = SqlFunctions.ask(FUNCTION, PythonUtils.toSeq(Arrays.asList(new Object[] {all.apply(2)})));
            if (!(parser instanceof UserDefinedPythonFunction)) {
                return FunctionRegistry$.MODULE$.builtin().lookupFunction(new FunctionIdentifier(FUNCTION), all);
            }
            Expression text = (Expression) all.apply(0);
            return ((UserDefinedPythonFunction) parser).builder(PythonUtils.toSeq(Arrays.asList(new Object[] {text})));
        }
    }
}
