package lakeward;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.CTESubstitution$;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.View;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

/**
 * A view as a stream: its query, with the tables that it names read as streams with the options of the reader.
 *
 * Source: https://docs.databricks.com/aws/en/structured-streaming/views
 */
public class StreamOfView extends SessionRule {

    private static final List OPTIONS = Arrays.asList(new Object[] {"maxfilespertrigger", "maxbytespertrigger", "ignoredeletes",
        "skipchangecommits", "witheventtimeorder", "startingtimestamp", "startingversion"});
    private static final List NOT_FOR_UNIONS = Arrays.asList(new Object[] {"witheventtimeorder", "startingversion"});
    private static final List REFUSED_OPERATORS = Arrays.asList(new Object[] {"Aggregate", "Sort", "Distinct", "Deduplicate", "Join",
        "GlobalLimit", "LocalLimit", "Offset", "Window", "Generate", "Expand", "Intersect", "Except", "Sample", "Pivot"});

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.containsPattern(TreePattern.UNRESOLVED_RELATION()) ? plan.transformDown(new Opened(session)) : plan;
    }

    private static LogicalPlan opened(SparkSession session, View view, CaseInsensitiveStringMap options) throws Exception {
        LogicalPlan query = session.sessionState().sqlParser().parseQuery(view.queryText());
        // Otherwise the name of a WITH clause would be taken for that of a table.
        LogicalPlan substituted = (LogicalPlan) CTESubstitution$.MODULE$.apply(query);
        LogicalPlan streamed = (LogicalPlan) substituted.transformDown(new Streamed(view.currentCatalog(), view.currentNamespace(), options));
        Dataset rows = Dataset.ofRows(session, streamed);
        boolean isUnion = requireOperators(rows.queryExecution().analyzed());
        for (Object key : options.asCaseSensitiveMap().keySet()) {
            String name = ((String) key).toLowerCase(Locale.ROOT);
            if (!OPTIONS.contains(name) || (isUnion && NOT_FOR_UNIONS.contains(name))) {
                throw PythonSqlBridge.error("UNSUPPORTED_STREAMING_OPTIONS_FOR_VIEW.UNSUPPORTED_OPTION", "0A000",
                    "Unsupported for streaming a view. Reason: option " + key + " is not supported" + (isUnion ? " with UNION ALL." : "."));
            }
        }
        Dataset named = (Dataset) rows.toDF(PythonUtils.toSeq(Arrays.asList((Object[]) view.schema().fieldNames())));
        return named.queryExecution().analyzed();
    }

    /** Whether the query has UNION ALL. Throws for an operator that no streamed view has. */
    private static boolean requireOperators(LogicalPlan plan) {
        String name = plan.nodeName();
        if (REFUSED_OPERATORS.contains(name)) {
            throw PythonSqlBridge.error("UNEXPECTED_OPERATOR_IN_STREAMING_VIEW", "42KDD",
                "Unexpected operator " + name + " in the CREATE VIEW statement as a streaming source. "
                + "A streaming view query must consist only of SELECT, WHERE, and UNION ALL operations.");
        }
        boolean isUnion = name.equals("Union");
        Iterator children = plan.children().iterator();
        while (children.hasNext()) isUnion |= requireOperators((LogicalPlan) children.next());
        return isUnion;
    }

    public static class Opened extends NodeRewrite {
        private final SparkSession session;

        Opened(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object node) {
            return node instanceof UnresolvedRelation && ((UnresolvedRelation) node).isStreaming();
        }

        Object replacement(Object node) {
            UnresolvedRelation relation = (UnresolvedRelation) node;
            CatalogTable found = CatalogTable.find(session, relation.multipartIdentifier());
            // A temporary view, a table, or an unknown name.
            if (!RelationKind.isView(found)) {
                requireCurrentVersion(relation.options());
                return relation;
            }
            try {
                View view = ((Catalog) found.catalog).loadView(found.identifier);
                return SubqueryAlias$.MODULE$.apply(relation.multipartIdentifier(), opened(session, view, relation.options()));
            } catch (Exception e) {
                throw WarehouseCatalog.sneak(e);
            }
        }
    }

    /** Spark has an assertion for this; the error is Delta's own for a stream of a path. */
    private static void requireCurrentVersion(CaseInsensitiveStringMap options) {
        if (!options.containsKey("versionAsOf") && !options.containsKey("timestampAsOf")) return;
        throw PythonSqlBridge.error("DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS", "0A000",
            "Cannot time travel views, subqueries, streams or change data feed queries.");
    }

    public static class Streamed extends NodeRewrite {
        private final String catalog;
        private final String[] namespace;
        private final CaseInsensitiveStringMap options;

        Streamed(String catalog, String[] namespace, CaseInsensitiveStringMap options) {
            this.catalog = catalog;
            this.namespace = namespace;
            this.options = options;
        }

        public boolean isDefinedAt(Object node) {
            return node instanceof UnresolvedRelation;
        }

        Object replacement(Object node) {
            UnresolvedRelation relation = (UnresolvedRelation) node;
            return relation.copy(named(relation.multipartIdentifier()), options, true);
        }

        /** The name as it was meant where the view was made. */
        private Seq named(Seq parts) {
            if (parts.length() > 2) return parts;
            List out = new ArrayList();
            out.add(catalog);
            if (parts.length() == 1) out.addAll(Arrays.asList((Object[]) namespace));
            for (int i = 0; i < parts.length(); i++) out.add(parts.apply(i));
            return PythonUtils.toSeq(out);
        }
    }
}
