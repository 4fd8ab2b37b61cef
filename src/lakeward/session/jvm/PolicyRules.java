package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.delta.tables.DeltaTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.AliasIdentifier;
import org.apache.spark.sql.catalyst.analysis.RelationTimeTravel;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedStarWithColumns;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.CloneTableStatement;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import scala.collection.immutable.Seq;

/**
 * Row filters and column masks. Where a query names a table that has them, this rule puts in its place
 * what may be seen of it, before Spark resolves the name: for SQL, DataFrames, views and streams alike.
 * What a statement writes to stays the table itself.
 */
public class PolicyRules extends SessionRule {

    private static final TreeNodeTag BARE = new TreeNodeTag("lakeward.bare");
    /** Set in a thread while it looks up what it is going to write to. */
    private static final ThreadLocal WRITTEN = new ThreadLocal();

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (WRITTEN.get() != null) return plan;
        boolean isConcerned = plan.containsPattern(TreePattern.UNRESOLVED_RELATION()) || plan.containsPattern(TreePattern.RELATION_TIME_TRAVEL())
            || plan.containsPattern(TreePattern.UNRESOLVED_TABLE_VALUED_FUNCTION());
        return isConcerned ? plan.transformDown(new Read(session)) : plan;
    }

    /** Whether reading the table of that name gives less than what is in it. */
    public static boolean has(SparkSession session, String name) throws ParseException {
        return find(session, session.sessionState().sqlParser().parseMultipartIdentifier(name)) != null;
    }

    /** Delta's own object for a table: what it writes to is the table itself. */
    public static DeltaTable table(SparkSession session, String name) {
        WRITTEN.set(Boolean.TRUE);
        try {
            return DeltaTable.forName(session, name);
        } finally {
            WRITTEN.remove();
        }
    }

    /** All rows of a table, whatever its policies. */
    public static Dataset rows(SparkSession session, String name) {
        WRITTEN.set(Boolean.TRUE);
        try {
            return (Dataset) session.table(name);
        } finally {
            WRITTEN.remove();
        }
    }

    /** What is kept about the table that a name means, if it has a policy; else null. */
    private static Governed find(SparkSession session, Seq name) {
        CatalogTable table = CatalogTable.find(session, name);
        if (table == null) return null;
        if (!(table.catalog instanceof Catalog)) return kept(session, table);
        Catalog catalog = (Catalog) table.catalog;
        ObjectNode about = TagPolicies.effective(session, catalog, table.identifier, catalog.about(table.identifier));
        return !Policies.isGoverned(about) ? null : new Governed(table.catalog.name(), table.identifier, about);
    }

    /** The same for the name under which Spark's session catalog keeps a table of another catalog. */
    private static Governed kept(SparkSession session, CatalogTable table) {
        CatalogManager manager = session.sessionState().catalogManager();
        String database = table.identifier.namespace()[0];
        String catalog = IdentifierCodec.catalog(database);
        if (table.catalog != SparkCatalog.own(manager) || catalog.equals(IdentifierCodec.SESSION) || !manager.isCatalogRegistered(catalog)) return null;
        return find(session, PythonUtils.toSeq(Arrays.asList(new Object[] {catalog, IdentifierCodec.schema(database), table.identifier.name()})));
    }

    /** A table with its policies. */
    public static class Governed {
        private final String catalog;
        private final Identifier table;
        private final ObjectNode about;

        Governed(String catalog, Identifier table, ObjectNode about) {
            this.catalog = catalog;
            this.table = table;
            this.about = about;
        }

        /** The rows and values of the table that may be seen. */
        LogicalPlan shown(SparkSession session, LogicalPlan rows) throws ParseException {
            LogicalPlan plan = rows;
            if (Policies.isFiltered(about)) plan = new Filter(expression(session, about.get(Policies.ROW_FILTER)), plan);
            if (!Policies.isMasked(about)) return plan;
            List names = new ArrayList();
            List values = new ArrayList();
            Iterator masks = about.get(Policies.MASKS).fieldNames();
            while (masks.hasNext()) {
                String name = (String) masks.next();
                names.add(name);
                values.add(expression(session, about.get(Policies.MASKS).get(name)));
            }
            UnresolvedStarWithColumns all = new UnresolvedStarWithColumns(PythonUtils.toSeq(names), PythonUtils.toSeq(values), ObjectDefinitions.none());
            return new Project(PythonUtils.toSeq(Collections.singletonList(all)), plan);
        }

        LogicalPlan named(LogicalPlan plan) {
            return new SubqueryAlias(new AliasIdentifier(table.name(), PythonUtils.toSeq(Arrays.asList(new Object[] {catalog, table.namespace()[0]}))), plan);
        }

        private static Expression expression(SparkSession session, JsonNode policy) throws ParseException {
            return session.sessionState().sqlParser().parseExpression(policy.get("expression").asText());
        }

        RuntimeException refusal(String what, String message) {
            String kind = Policies.isFiltered(about) ? "ROW_LEVEL_SECURITY" : "COLUMN_MASKS";
            return Policies.refused(kind + what, message + " " + catalog + "." + table.namespace()[0] + "." + table.name()
                + ", which has a row filter or column masks.");
        }
    }

    public static class Read extends NodeRewrite {
        private final SparkSession session;

        Read(SparkSession session) {
            this.session = session;
        }

        public boolean isDefinedAt(Object node) {
            return node instanceof UnresolvedRelation || node instanceof RelationTimeTravel || node instanceof UnresolvedTableValuedFunction
                || node instanceof MergeIntoTable || node instanceof DeleteFromTable || node instanceof UpdateTable || node instanceof CloneTableStatement;
        }

        Object replacement(Object node) {
            if (node instanceof MergeIntoTable) return written(node, ((MergeIntoTable) node).targetTable());
            if (node instanceof DeleteFromTable) return written(node, ((DeleteFromTable) node).table());
            if (node instanceof UpdateTable) return written(node, ((UpdateTable) node).table());
            if (node instanceof CloneTableStatement) return cloned((CloneTableStatement) node);
            if (((LogicalPlan) node).containsTag(BARE)) return node;
            Governed found = governed((LogicalPlan) node);
            if (found == null) return node;
            if (node instanceof RelationTimeTravel || isOfPast((LogicalPlan) node)) throw found.refusal("_FEATURE_NOT_SUPPORTED.TIME_TRAVEL", "Time travel does not work with");
            ((LogicalPlan) node).setTagValue(BARE, Boolean.TRUE);
            try {
                LogicalPlan shown = found.shown(session, (LogicalPlan) node);
                return node instanceof UnresolvedRelation ? found.named(shown) : shown;
            } catch (ParseException e) {
                throw WarehouseCatalog.sneak(e);
            }
        }

        private Governed governed(LogicalPlan node) {
            if (node instanceof UnresolvedRelation) return ofRelation((UnresolvedRelation) node);
            if (node instanceof RelationTimeTravel) return governed(((RelationTimeTravel) node).relation());
            return node instanceof UnresolvedTableValuedFunction ? changed((UnresolvedTableValuedFunction) node) : null;
        }

        /** The table of that name; without one, the table whose version `t@v1` names. */
        private Governed ofRelation(UnresolvedRelation relation) {
            Seq parts = relation.multipartIdentifier();
            Seq table = relation.isStreaming() ? null : VersionedNames.table(parts);
            Governed found = find(session, parts);
            return found != null || table == null || exists(parts) ? found : find(session, table);
        }

        private boolean exists(Seq name) {
            CatalogTable table = CatalogTable.find(session, name);
            return table == null || ((TableCatalog) table.catalog).tableExists(table.identifier);
        }

        /** Options of a reader, and a name with a version, travel as the clauses of SQL do. */
        private static boolean isOfPast(LogicalPlan node) {
            if (!(node instanceof UnresolvedRelation)) return false;
            UnresolvedRelation relation = (UnresolvedRelation) node;
            return relation.options().containsKey("versionAsOf") || relation.options().containsKey("timestampAsOf")
                || (!relation.isStreaming() && VersionedNames.table(relation.multipartIdentifier()) != null);
        }

        /** The table whose changes table_changes('name', …) gives. */
        private Governed changed(UnresolvedTableValuedFunction f) {
            Seq table = ChangeFeeds.changedTable(session, f);
            return table == null ? null : find(session, table);
        }

        private static Object written(Object statement, LogicalPlan target) {
            Seq named = target.collectLeaves();
            for (int k = 0; k < named.length(); k++) ((LogicalPlan) named.apply(k)).setTagValue(BARE, Boolean.TRUE);
            return statement;
        }

        /** A clone copies the files, with all that is in them. */
        private Object cloned(CloneTableStatement statement) {
            Governed found = governed(statement.source());
            if (found != null) throw found.refusal("_TABLE_CLONE_SOURCE_NOT_SUPPORTED", "There can be no clone of");
            return written(statement, statement.target());
        }
    }
}
