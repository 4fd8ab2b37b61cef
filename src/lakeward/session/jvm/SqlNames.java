package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunctionName;
import org.apache.spark.sql.catalyst.analysis.UnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.plans.logical.CreateFunction;
import org.apache.spark.sql.catalyst.plans.logical.CreateUserDefinedFunction;
import org.apache.spark.sql.catalyst.plans.logical.DescribeFunction;
import org.apache.spark.sql.catalyst.plans.logical.DropFunction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.RefreshFunction;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.catalyst.util.QuotingUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.Identifier;
import scala.collection.immutable.Seq;

/**
 * Spark keeps functions of SQL in its session catalog alone. Where a statement names one of another
 * catalog, this rule puts the name in its place under which the session catalog keeps it.
 */
public class SqlNames extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (plan instanceof CreateUserDefinedFunction || plan instanceof CreateFunction || plan instanceof DropFunction
            || plan instanceof DescribeFunction || plan instanceof RefreshFunction) {
            return plan.transformDown(new Named(session, plan instanceof DescribeFunction, false, plan instanceof DropFunction && ((DropFunction) plan).ifExists()));
        }
        boolean calls = plan.containsPattern(TreePattern.UNRESOLVED_TABLE_VALUED_FUNCTION());
        return calls ? plan.transformDown(new Named(session, true, true, false)) : plan;
    }

    public static class Named extends NodeRewrite {
        private final SparkSession session;
        private final boolean mustExist;
        private final boolean isRelation;
        private final boolean mayBeMissing;

        Named(SparkSession session, boolean mustExist, boolean isRelation, boolean mayBeMissing) {
            this.mayBeMissing = mayBeMissing;
            this.session = session;
            this.mustExist = mustExist;
            this.isRelation = isRelation;
        }

        public boolean isDefinedAt(Object node) {
            if (isRelation) return node instanceof UnresolvedTableValuedFunction;
            return node instanceof UnresolvedIdentifier || node instanceof UnresolvedFunctionName;
        }

        Object replacement(Object node) {
            if (node instanceof UnresolvedIdentifier) {
                UnresolvedIdentifier i = (UnresolvedIdentifier) node;
                Seq name = kept(i.nameParts());
                return name == null ? node : new UnresolvedIdentifier(name, i.allowTemp());
            }
            if (node instanceof UnresolvedFunctionName) {
                UnresolvedFunctionName f = (UnresolvedFunctionName) node;
                Seq name = kept(f.multipartIdentifier());
                return name == null ? node : new UnresolvedFunctionName(name, f.commandName(), f.possibleQualifiedName());
            }
            UnresolvedTableValuedFunction f = (UnresolvedTableValuedFunction) node;
            if (f.isStreaming() && f.name().length() == 1 && SqlFunctions.isRelation((String) f.name().apply(0))) {
                return f.copy(PythonUtils.toSeq(java.util.Collections.singletonList(SqlFunctions.STREAM + f.name().apply(0))), f.functionArgs(), false);
            }
            Seq name = isKnown(f) ? null : kept(f.name());
            return name == null ? node : f.copy(name, f.functionArgs(), f.isStreaming());
        }

        /** Spark would say that the catalog has no functions at all. */
        private static RuntimeException unresolvable(Seq name) {
            RuntimeException refusal = SqlRefusals.ofRelation(name);
            if (refusal != null) return refusal;
            return PythonSqlBridge.error("UNRESOLVABLE_TABLE_VALUED_FUNCTION", new String[] {"name", QuotingUtils.quoteNameParts(name)});
        }

        private boolean isKnown(UnresolvedTableValuedFunction f) {
            return f.name().length() == 1 && isBuiltin((String) f.name().apply(0));
        }

        private boolean isBuiltin(String function) {
            return session.sessionState().catalog().lookupBuiltinOrTempTableFunction(function).isDefined();
        }

        /** The name in the session catalog; null when it is Spark's to resolve. */
        private Seq kept(Seq name) {
            CatalogManager manager = session.sessionState().catalogManager();
            int parts = name.length();
            // Catalogs of other products may have schemas in schemas.
            boolean isOurs = manager.currentCatalog() instanceof Catalog;
            if (parts > 3) {
                if (isRelation && isOurs) throw unresolvable(name);
                return null;
            }
            String[] current = CurrentSchema.of(manager);
            String catalog = parts == 3 ? (String) name.apply(0) : current[0];
            if (parts == 1 && current.length != 2) return null;
            String schema = parts == 1 ? current[1] : (String) name.apply(parts - 2);
            boolean registered = manager.isCatalogRegistered(catalog);
            // Spark would look for the schema `catalog.schema` in the current catalog.
            if (isRelation && isOurs && parts == 3 && !registered) throw unresolvable(name);
            if (!registered && isOurs && parts == 3 && mayBeMissing) return stored(manager, catalog, schema, (String) name.apply(2));
            if (!registered || !(manager.catalog(catalog) instanceof Catalog)) return null;
            String function = (String) name.apply(parts - 1);
            if (mustExist && !((Catalog) manager.catalog(catalog)).functionExists(Identifier.of(new String[] {schema}, function))) {
                if (isRelation && !(isSystem(name) && isBuiltin(function))) throw unresolvable(name);
                return null;
            }
            return stored(manager, manager.catalog(catalog).name(), schema, function);
        }

        private static Seq stored(CatalogManager manager, String catalog, String schema, String function) {
            List out = new ArrayList();
            out.add(SparkCatalog.nameOfOwn(manager));
            out.add(IdentifierCodec.database(catalog, schema));
            out.add(function);
            return PythonUtils.toSeq(out);
        }

        /** `builtin.range`, `system.session.f`: Spark's own schemas of functions. */
        private static boolean isSystem(Seq name) {
            int parts = name.length();
            if (parts == 3 && !((String) name.apply(0)).equalsIgnoreCase("system")) return false;
            String schema = parts < 2 ? "" : (String) name.apply(parts - 2);
            return schema.equalsIgnoreCase("builtin") || schema.equalsIgnoreCase("session");
        }
    }
}
