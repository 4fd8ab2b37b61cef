package lakeward;

import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.ResolvedNamespace;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ShowFunctions;
import org.apache.spark.sql.catalyst.util.StringUtils;
import org.apache.spark.sql.connector.catalog.FunctionCatalog;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.ShowFunctionsExec;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * SHOW FUNCTIONS lists the functions of {@link SqlFunctions} and {@link GeoTable} as built-in functions. For a catalog that is not
 * Spark's own, Spark lists the functions that are compiled into it, and none that a session adds.
 */
public class SystemFunctions extends SessionStrategy {

    SparkPlan planned(LogicalPlan plan) {
        if (!(plan instanceof ShowFunctions)) return null;
        ShowFunctions show = (ShowFunctions) plan;
        if (!show.systemScope() || !(show.child() instanceof ResolvedNamespace)) return null;
        ResolvedNamespace schema = (ResolvedNamespace) show.child();
        if (!(schema.catalog() instanceof FunctionCatalog)) return null;
        return new Listing(show.output(), (FunctionCatalog) schema.catalog(), schema.namespace(), show.userScope(), true, show.pattern());
    }

    public static class Listing extends ShowFunctionsExec {
        /** Spark copies plans by the constructor with these arguments. */
        public Listing(Seq output, FunctionCatalog catalog, Seq namespace, boolean user, boolean system, Option pattern) {
            super(output, catalog, namespace, user, system, pattern);
        }

        public Seq run() {
            Seq listed = super.run();
            TreeSet names = new TreeSet();
            for (int i = 0; i < listed.length(); i++) names.add(((InternalRow) listed.apply(i)).getUTF8String(0).toString());
            Option pattern = pattern();
            List ours = SqlFunctions.names();
            ours.addAll(GeoTable.names());
            ours.addAll(java.util.Arrays.asList((Object[]) ZstdFunctions.NAMES));
            Seq added = StringUtils.filterPattern(PythonUtils.toSeq(ours), pattern.isEmpty() ? "*" : (String) pattern.get());
            for (int i = 0; i < added.length(); i++) names.add(added.apply(i));
            Object[] rows = names.toArray();
            for (int i = 0; i < rows.length; i++) rows[i] = toCatalystRow(PythonUtils.toSeq(Arrays.asList(new Object[] {rows[i]})));
            return PythonUtils.toSeq(Arrays.asList(rows));
        }
    }
}
