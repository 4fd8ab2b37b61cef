package lakeward;

import org.apache.spark.sql.catalyst.analysis.UnresolvedNamespace;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTable;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableOrView;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.command.ShowNamespacesCommand;
import scala.PartialFunction;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * `x.t` is the table t of the schema x in the current catalog, as on the platform, where Spark looks for a catalog x first.
 * The names get the catalog before Spark resolves them; {@link Catalog} treats those that are no nodes of a plan alike.
 */
public class ShortNames extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.resolveOperators((PartialFunction) new Names(session, plan instanceof ShowNamespacesCommand));
    }

    /** The parts with the current catalog before them; null where they stay as they are. */
    private static Seq full(SparkSession session, Seq parts, int length) {
        if (parts.length() != length) return null;
        String first = (String) parts.apply(0);
        if (!session.sessionState().conf().contains("spark.sql.catalog." + first)) return null;
        Catalog current = Catalog.current(session);
        return current == null ? null : (Seq) parts.prepended(current.name());
    }

    public static class Names extends AbstractPartialFunction {
        private final SparkSession session;
        private final boolean ofCatalog;

        Names(SparkSession session, boolean ofCatalog) {
            this.session = session;
            this.ofCatalog = ofCatalog;
        }

        public boolean isDefinedAt(Object node) {
            return named(node) != null;
        }

        public Object applyOrElse(Object node, scala.Function1 otherwise) {
            Object named = named(node);
            return named == null ? otherwise.apply(node) : named;
        }

        private Object named(Object node) {
            if (node instanceof UnresolvedRelation) {
                UnresolvedRelation relation = (UnresolvedRelation) node;
                Seq parts = full(session, relation.multipartIdentifier(), 2);
                return parts == null ? null : relation.copy(parts, relation.options(), relation.isStreaming());
            }
            if (node instanceof UnresolvedTable) {
                UnresolvedTable table = (UnresolvedTable) node;
                Seq parts = full(session, table.multipartIdentifier(), 2);
                return parts == null ? null : table.copy(parts, table.commandName(), table.suggestAlternative());
            }
            if (node instanceof UnresolvedTableOrView) {
                UnresolvedTableOrView either = (UnresolvedTableOrView) node;
                Seq parts = full(session, either.multipartIdentifier(), 2);
                return parts == null ? null : either.copy(parts, either.commandName(), either.allowTempView(), either.tableNotFoundSearchPathMode());
            }
            if (node instanceof UnresolvedNamespace && !ofCatalog) {
                UnresolvedNamespace namespace = (UnresolvedNamespace) node;
                Seq parts = full(session, namespace.multipartIdentifier(), 1);
                if (parts == null || !Catalog.current(session).namespaceExists(new String[] {(String) parts.last()})) return null;
                return namespace.copy(parts, namespace.fetchMetadata());
            }
            return null;
        }
    }
}
