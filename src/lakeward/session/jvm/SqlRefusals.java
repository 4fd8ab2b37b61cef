package lakeward;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.SparkSession;
import scala.collection.immutable.Seq;

/** Functions that need a service of the platform: refused unless the project registers a function of the same name. */
public class SqlRefusals extends SessionRule {

    private static final String MODELS = "model serving";
    /** What each function needs, in names of one part; those that begin with ai_ need models. */
    private static final Map NEEDS = new HashMap();

    static {
        NEEDS.put("http_request", "a connection of Unity Catalog");
        NEEDS.put("remote_query", "a connection of Unity Catalog");
        NEEDS.put("vector_search", "an index of vector search");
        NEEDS.put("read_kinesis", "a connector to Kinesis");
        NEEDS.put("read_pubsub", "a connector to Pub/Sub");
        NEEDS.put("read_pulsar", "a connector to Pulsar");
        NEEDS.put("current_recipient", "a share of Delta Sharing");
    }

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.containsPattern(TreePattern.UNRESOLVED_FUNCTION()) ? plan.transformAllExpressions(new Look(session)) : plan;
    }

    private static String need(String function) {
        String name = function.toLowerCase(Locale.ROOT);
        return name.startsWith("ai_") && name.length() > 3 ? MODELS : (String) NEEDS.get(name);
    }

    /** What a function that nothing defines needs; null if it is not refused. */
    private static String need(SparkSession session, Seq parts) {
        String need = parts.length() == 1 ? need((String) parts.apply(0)) : null;
        SessionCatalog catalog = session.sessionState().catalog();
        FunctionIdentifier id = need == null ? null : new FunctionIdentifier(((String) parts.apply(0)).toLowerCase(Locale.ROOT));
        return id == null || catalog.isTemporaryFunction(id) || catalog.isRegisteredFunction(id) ? null : need;
    }

    private static RuntimeException refusal(Seq parts, String need, String remedy) {
        String name = ((String) parts.apply(0)).toLowerCase(Locale.ROOT);
        return PythonSqlBridge.error("UNSUPPORTED_SQL", "0A000", "The function " + name + " needs " + need + ", which is not available locally. " + remedy.replace("<name>", name));
    }

    /** The refusal of a table function that nothing defines; null if it is not one of these. */
    static RuntimeException ofRelation(Seq parts) {
        String need = parts.length() == 1 ? need((String) parts.apply(0)) : null;
        return need == null ? null : refusal(parts, need, "Register a table function of that name to stand in for it, with "
            + "spark.udtf.register(\"<name>\", …), or read a table with such rows.");
    }

    public static class Look extends NodeRewrite {
        private final SparkSession session;

        Look(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object e) {
            return e instanceof UnresolvedFunction && need(session, ((UnresolvedFunction) e).nameParts()) != null;
        }

        Object replacement(Object e) {
            Seq parts = ((UnresolvedFunction) e).nameParts();
            throw refusal(parts, need(session, parts), "Register a function of that name to stand in for it, with spark.udf.register(\"<name>\", …) "
                + "or CREATE TEMPORARY FUNCTION.");
        }
    }
}
