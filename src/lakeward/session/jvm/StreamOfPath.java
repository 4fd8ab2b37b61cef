package lakeward;

import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.streaming.DataStreamReader;

/**
 * STREAM delta.`/path`: Spark asks the catalog for such a table and then for its form in the session
 * catalog, which Delta's tables of a path refuse to have. Before that it is opened by its path.
 */
public class StreamOfPath extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.containsPattern(TreePattern.UNRESOLVED_RELATION()) ? plan.transformDown(new Opened(session)) : plan;
    }

    public static class Opened extends NodeRewrite {
        private final SparkSession session;

        Opened(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object node) {
            if (!(node instanceof UnresolvedRelation)) return false;
            UnresolvedRelation relation = (UnresolvedRelation) node;
            return relation.isStreaming() && relation.multipartIdentifier().length() == 2
                && "delta".equalsIgnoreCase((String) relation.multipartIdentifier().apply(0))
                && ((String) relation.multipartIdentifier().apply(1)).indexOf('/') >= 0;
        }

        Object replacement(Object node) {
            UnresolvedRelation relation = (UnresolvedRelation) node;
            DataStreamReader reader = session.readStream();
            reader.format("delta");
            reader.options(relation.options().asCaseSensitiveMap());
            Object opened = reader.load((String) relation.multipartIdentifier().apply(1));
            return ((Dataset) opened).queryExecution().analyzed();
        }
    }
}
