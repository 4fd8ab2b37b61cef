package lakeward;

import java.util.Locale;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.SparkSession;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

/** Functions that need model serving: refused unless the project registers a function of the same name. */
public class SqlRefusals extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.containsPattern(TreePattern.UNRESOLVED_FUNCTION()) ? plan.transformAllExpressions(new Look(session)) : plan;
    }

    public static class Look extends AbstractPartialFunction {
        private final SparkSession session;

        Look(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object e) {
            if (!(e instanceof UnresolvedFunction) || ((UnresolvedFunction) e).nameParts().length() != 1) return false;
            String name = (String) ((UnresolvedFunction) e).nameParts().apply(0);
            return name.length() > 3 && name.regionMatches(true, 0, "ai_", 0, 3);
        }

        public Object applyOrElse(Object e, Function1 otherwise) {
            if (!isDefinedAt(e)) return otherwise.apply(e);
            String name = ((String) ((UnresolvedFunction) e).nameParts().apply(0)).toLowerCase(Locale.ROOT);
            SessionCatalog catalog = session.sessionState().catalog();
            FunctionIdentifier id = new FunctionIdentifier(name);
            if (catalog.isTemporaryFunction(id) || catalog.isRegisteredFunction(id)) return e;
            throw PythonSqlBridge.error("UNSUPPORTED_SQL", "0A000", "The function " + name + " needs model serving, which is not available locally. "
                + "Register a function of that name to stand in for it, with spark.udf.register(\"" + name + "\", …) or CREATE TEMPORARY FUNCTION.");
        }
    }
}
