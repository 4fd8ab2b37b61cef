package lakeward;

import java.util.Arrays;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.AliasIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.catalyst.streaming.Unassigned$;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.TableChanges;
import org.apache.spark.sql.delta.catalog.DeltaTableV2;
import org.apache.spark.sql.delta.commands.cdc.CDCReader$;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Seq;

/**
 * The change data feed of a named table: the options readChangeFeed and readChangeData, and table_changes().
 *
 * Delta adds the columns of the feed to its own tables, not to planned ones. In SQL text its options add them
 * after `*` is expanded, so `SELECT * FROM t WITH (…)` would lack them.
 */
public class ChangeFeeds extends SessionRule {

    private static final TreeNodeTag OPENED = new TreeNodeTag("lakeward.changes");

    /** The table of the function table_changes('name', …); null for other functions. */
    static Seq changedTable(SparkSession session, UnresolvedTableValuedFunction f) {
        boolean isMeant = f.name().length() == 1 && ((String) f.name().apply(0)).equalsIgnoreCase("table_changes") && !f.functionArgs().isEmpty();
        Object table = isMeant ? f.functionArgs().apply(0) : null;
        if (!(table instanceof Literal) || ((Literal) table).value() == null) return null;
        try {
            return session.sessionState().sqlParser().parseMultipartIdentifier(((Literal) table).value().toString());
        } catch (ParseException e) {
            return null;
        }
    }

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        boolean isConcerned = plan.containsPattern(TreePattern.UNRESOLVED_RELATION())
            || plan.containsPattern(TreePattern.UNRESOLVED_TABLE_VALUED_FUNCTION());
        return isConcerned ? plan.transformDownWithSubqueries(new Opened(session, plan)) : plan;
    }

    public static class Opened extends NodeRewrite {
        private final SparkSession session;
        private final LogicalPlan root;

        Opened(SparkSession session, LogicalPlan root) {
            this.session = session;
            this.root = root;
        }

        public boolean isDefinedAt(Object node) {
            return node instanceof UnresolvedRelation || node instanceof UnresolvedTableValuedFunction;
        }

        Object replacement(Object node) {
            if (node instanceof UnresolvedRelation) return ofOptions((UnresolvedRelation) node);
            return ofFunction((UnresolvedTableValuedFunction) node);
        }

        private LogicalPlan ofOptions(UnresolvedRelation relation) {
            if (!CDCReader$.MODULE$.isCDCRead(relation.options())) return relation;
            CatalogTable named = CatalogTable.find(session, relation.multipartIdentifier());
            if (named == null || !(named.catalog instanceof Catalog)) return relation;
            LogicalPlan planned = planned(named, relation.options(), relation.isStreaming());
            if (planned != null) return planned;
            if (relation.isStreaming() || relation == root || relation.containsTag(OPENED) || !isDelta(named)) return relation;
            // A copy: the plan of the query may be analyzed again.
            LogicalPlan opened = relation.copy(relation.multipartIdentifier(), relation.options(), false);
            opened.copyTagsFrom(relation);
            opened.setTagValue(OPENED, Boolean.TRUE);
            return new TableChanges(opened, "table_changes", CDCReader$.MODULE$.cdcAttributes());
        }

        private static boolean isDelta(CatalogTable named) {
            try {
                return ((Catalog) named.catalog).loadTable(named.identifier) instanceof DeltaTableV2;
            } catch (Exception e) {
                // Spark resolves the name again, and its error has the place in the text.
                return false;
            }
        }

        private LogicalPlan ofFunction(UnresolvedTableValuedFunction function) {
            Seq name = function.functionArgs().length() < 2 ? null : changedTable(session, function);
            CatalogTable named = name == null ? null : CatalogTable.find(session, name);
            LogicalPlan feed = named == null ? null : planned(named, CaseInsensitiveStringMap.empty(), false);
            return feed == null ? function : feed;
        }

        private static LogicalPlan planned(CatalogTable named, CaseInsensitiveStringMap options, boolean isStreaming) {
            Object table = PlannedTable.find(named.catalog.name(), named.identifier);
            if (table == null) return null;
            PlannedTable feed = ((PlannedTable) table).feed();
            Option catalog = new Some(named.catalog);
            Option identifier = new Some(named.identifier);
            LogicalPlan relation = isStreaming
                ? new StreamingRelationV2(Option.empty(), feed.name(), feed, options, DataTypeUtils.toAttributes(feed.schema()), catalog, identifier, Option.empty(), Unassigned$.MODULE$)
                : (LogicalPlan) DataSourceV2Relation.create(feed, catalog, identifier, options, Option.empty());
            Seq qualifier = PythonUtils.toSeq(Arrays.asList(new Object[] {named.catalog.name(), named.identifier.namespace()[0]}));
            return new SubqueryAlias(new AliasIdentifier(named.identifier.name(), qualifier), relation);
        }
    }
}
