package lakeward;

import java.util.Arrays;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.SemiStructuredExtract;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.expressions.variant.VariantGet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * The meaning of `column:path` depends on the column's type, which is unknown to the parser. Before Spark's
 * resolution, which supports VARIANT only, it becomes a function that is built after its input is resolved.
 */
public class SqlRules extends SessionRule {

    public static final String EXTRACT = "lakeward_extract";
    /** A path of this name represents the operator ?::, whose left operand cannot be found in the tokens. */
    private static final String TRY = "$.lakeward_try_cast";

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.containsPattern(TreePattern.SEMI_STRUCTURED_EXTRACT()) ? plan.transformAllExpressions(new Extract()) : plan;
    }

    public static class Extract extends NodeRewrite {
        public boolean isDefinedAt(Object e) {
            return e instanceof SemiStructuredExtract || (e instanceof Cast && tried((Cast) e) != null);
        }

        Object replacement(Object e) {
            if (e instanceof SemiStructuredExtract) return deferred((SemiStructuredExtract) e);
            return new Cast(tried((Cast) e), ((Cast) e).dataType(), ((Cast) e).timeZoneId(), EvalMode.TRY());
        }

        private static Expression tried(Cast cast) {
            Expression child = (Expression) cast.child();
            if (child instanceof Alias) child = (Expression) ((Alias) child).child();
            if (!(child instanceof SemiStructuredExtract)) return null;
            SemiStructuredExtract marked = (SemiStructuredExtract) child;
            return marked.field().equals(TRY) ? (Expression) marked.child() : null;
        }

        private static Expression deferred(SemiStructuredExtract e) {
            Literal path = new Literal(UTF8String.fromString(e.field()), DataTypes.StringType);
            return new UnresolvedFunction(PythonUtils.toSeq(Arrays.asList(new Object[] {EXTRACT})),
                PythonUtils.toSeq(Arrays.asList(new Object[] {e.child(), path})), false, ObjectDefinitions.none(), ObjectDefinitions.none(),
                ObjectDefinitions.seq(null), false);
        }
    }

    /** The function's builder, called by Spark after the arguments are resolved. */
    public static class Builder extends AbstractFunction1 {
        public Object apply(Object arguments) {
            Expression column = (Expression) ((Seq) arguments).apply(0);
            Literal path = (Literal) ((Seq) arguments).apply(1);
            if (path.value().toString().startsWith("$.[")) {
                path = new Literal(UTF8String.fromString("$" + path.value().toString().substring(2)), DataTypes.StringType);
            }
            if (column.dataType() instanceof VariantType) {
                return new VariantGet(column, path, column.dataType(), true, ObjectDefinitions.none());
            }
            if (!(column.dataType() instanceof StringType)) {
                throw wrongType(column, path);
            }
            return new StaticInvoke(JsonPath.class, DataTypes.StringType, "get",
                PythonUtils.toSeq(Arrays.asList(new Object[] {column, path})), ObjectDefinitions.seq(null), true, true, true, ObjectDefinitions.none());
        }

        private static RuntimeException wrongType(Expression column, Literal path) {
            String shown = "\"" + column.sql() + ":" + path.value().toString().substring(2) + "\"";
            return PythonSqlBridge.error("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", new String[] {"sqlExpr", shown, "paramIndex", "first",
                "requiredType", "(\"STRING\" or \"VARIANT\")", "inputSql", "\"" + column.sql() + "\"",
                "inputType", "\"" + column.dataType().sql() + "\""});
        }
    }
}
