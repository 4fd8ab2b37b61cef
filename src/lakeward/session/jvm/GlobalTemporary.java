package lakeward;

import java.util.Collections;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.ResolvedNamespace;
import org.apache.spark.sql.catalyst.analysis.UnresolvedNamespace;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ShowTables;
import org.apache.spark.sql.catalyst.plans.logical.ShowTablesExtended;
import org.apache.spark.sql.catalyst.plans.logical.ShowViews;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;

/** Global temporary views belong to no catalog: they are listed from within any, which Spark does for its own alone. */
public class GlobalTemporary extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        boolean lists = plan instanceof ShowTables || plan instanceof ShowTablesExtended || plan instanceof ShowViews;
        return lists ? plan.transformDown(new Namespace(session)) : plan;
    }

    public static class Namespace extends NodeRewrite {
        private final SparkSession session;
        private final String database;

        Namespace(SparkSession session) {
            this.session = session;
            database = session.sharedState().globalTempDB();
        }

        public boolean isDefinedAt(Object node) {
            if (!(node instanceof UnresolvedNamespace)) return false;
            String name = ((UnresolvedNamespace) node).multipartIdentifier().mkString(".");
            return name.equalsIgnoreCase(database) || name.equalsIgnoreCase(IdentifierCodec.SESSION + "." + database);
        }

        Object replacement(Object node) {
            return new ResolvedNamespace(session.sessionState().catalogManager().defaultSessionCatalog(),
                PythonUtils.toSeq(Collections.singletonList(database)), ObjectDefinitions.scalaMap(null));
        }
    }
}
