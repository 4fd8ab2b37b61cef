package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunctionName;
import org.apache.spark.sql.catalyst.analysis.UnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedNamespace;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.CreateFunction;
import org.apache.spark.sql.catalyst.plans.logical.CreateUserDefinedFunction;
import org.apache.spark.sql.catalyst.plans.logical.CreateView;
import org.apache.spark.sql.catalyst.plans.logical.DropFunction;
import org.apache.spark.sql.catalyst.plans.logical.DropNamespace;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.RefreshFunction;
import org.apache.spark.sql.catalyst.plans.logical.V2CreateTablePlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.QuotingUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.execution.command.ShowNamespacesCommand;
import scala.collection.immutable.Seq;

/**
 * Statements that name a catalog that does not exist. Spark takes the name for a schema of the current
 * catalog, and its errors name that catalog; on the platform the condition is NO_SUCH_CATALOG_EXCEPTION.
 */
public class CatalogNames extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (!(plan instanceof Command)) return plan;
        if (isFunction(plan) || plan instanceof DropFunction || plan instanceof RefreshFunction) requireOneSchema(plan.children().apply(0), session);
        Seq children = plan.children();
        for (int i = 0; i < children.length(); i++) {
            String name = catalog(plan, children.apply(i));
            if (name != null) require(name, session);
            if (isFunction(plan) && children.apply(i) instanceof UnresolvedIdentifier) {
                requireSchema(((UnresolvedIdentifier) children.apply(i)).nameParts(), session);
            }
        }
        return plan;
    }

    /** The part of a name that has to be a catalog; null without one. */
    private static String catalog(LogicalPlan statement, Object child) {
        Seq parts = null;
        int others = 1;
        if (child instanceof UnresolvedNamespace) {
            parts = ((UnresolvedNamespace) child).multipartIdentifier();
            if (statement instanceof ShowNamespacesCommand) others = 0;
            if (statement instanceof DropNamespace && ((DropNamespace) statement).ifExists()) return null;
        } else if (child instanceof UnresolvedIdentifier && needsCatalog(statement)) {
            parts = ((UnresolvedIdentifier) child).nameParts();
            others = 2;
        }
        return parts != null && parts.length() == others + 1 ? (String) parts.apply(0) : null;
    }

    private static boolean needsCatalog(LogicalPlan statement) {
        if (statement instanceof DropFunction) return !((DropFunction) statement).ifExists();
        return statement instanceof V2CreateTablePlan || statement instanceof CreateView || statement instanceof RefreshFunction
            || isFunction(statement);
    }

    /** A function has a catalog and one schema, as a table: Spark would look at the last two parts alone. */
    private static void requireOneSchema(Object child, SparkSession session) {
        Seq parts = child instanceof UnresolvedIdentifier ? ((UnresolvedIdentifier) child).nameParts()
            : child instanceof UnresolvedFunctionName ? ((UnresolvedFunctionName) child).multipartIdentifier() : null;
        CatalogManager manager = session.sessionState().catalogManager();
        if (parts == null || parts.length() < 4 || !(manager.currentCatalog() instanceof Catalog)) return;
        boolean hasCatalog = manager.isCatalogRegistered((String) parts.apply(0));
        List namespace = new ArrayList();
        for (int i = hasCatalog ? 1 : 0; i < parts.length() - 1; i++) namespace.add(parts.apply(i));
        String catalog = hasCatalog ? (String) parts.apply(0) : manager.currentCatalog().name();
        throw LakehouseCatalog.severalParts(catalog, (String[]) namespace.toArray(new String[0]));
    }

    private static boolean isFunction(LogicalPlan statement) {
        return statement instanceof CreateFunction || statement instanceof CreateUserDefinedFunction;
    }

    /** Spark creates functions in its session catalog: its own error would have the name of that schema. */
    private static void requireSchema(Seq parts, SparkSession session) {
        CatalogManager manager = session.sessionState().catalogManager();
        Object catalog = parts.length() == 3 && manager.isCatalogRegistered((String) parts.apply(0))
            ? manager.catalog((String) parts.apply(0)) : manager.currentCatalog();
        if (parts.length() > 1 && catalog instanceof Catalog) {
            ((Catalog) catalog).requireSchema(new String[] {(String) parts.apply(parts.length() - 2)}, "CREATE FUNCTION");
        }
    }

    private static void require(String name, SparkSession session) {
        CatalogManager manager = session.sessionState().catalogManager();
        // Catalogs of other products may have schemas in schemas.
        if (!manager.currentCatalog().getClass().getName().startsWith("lakeward.")) return;
        if (manager.isCatalogRegistered(name)) return;
        throw error(name);
    }

    /** The error for a quoted name that Spark does not find among its catalogs. */
    public static Throwable notFound(String quoted) {
        boolean isQuoted = quoted.length() > 1 && quoted.startsWith("`") && quoted.endsWith("`");
        return error(isQuoted ? quoted.substring(1, quoted.length() - 1).replace("``", "`") : quoted);
    }

    private static RuntimeException error(String name) {
        return PythonSqlBridge.error("NO_SUCH_CATALOG_EXCEPTION", "42704", "Catalog '" + name + "' was not found. Verify the name. " + remedy(name));
    }

    /** As in declared_catalogs.py. */
    private static String remedy(String name) {
        String quoted = name.matches("[A-Za-z_]\\w*") ? name : QuotingUtils.quoteIdentifier(name);
        return "If " + name + " is a catalog of your workspace: catalogs = [\"" + name + "\"] under [tool.lakeward] in pyproject.toml "
            + "creates it in every session of the project, and lakeward sql -e 'CREATE CATALOG " + quoted + "' creates it once.";
    }
}
