package lakeward;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.TableChange;

/**
 * Table features that Delta on Databricks has and open-source Delta refuses as table properties. They change who
 * coordinates commits and which clients may read the files, and no row of a query. Tables are created without them.
 */
public class PlatformFeatures {

    private static final String PREFIX = "delta.feature.";
    private static final String OPTION = "option.";
    private static final Set NAMES = new HashSet(Arrays.asList(new Object[] {
        "catalogmanaged", "catalogowned", "catalogowned-preview", "collations", "collations-preview",
        "icebergwritercompatv1", "icebergwritercompatv3", "incommittimestamp-preview"
    }));

    private PlatformFeatures() {
    }

    private static boolean has(Object property) {
        String key = property.toString().toLowerCase(Locale.ROOT);
        if (key.startsWith(OPTION)) key = key.substring(OPTION.length());
        return key.startsWith(PREFIX) && NAMES.contains(key.substring(PREFIX.length()));
    }

    /** The properties that a table is created with. */
    static Map without(Map properties) {
        Map kept = new HashMap();
        for (Iterator each = properties.entrySet().iterator(); each.hasNext();) {
            Map.Entry entry = (Map.Entry) each.next();
            if (!has(entry.getKey())) kept.put(entry.getKey(), entry.getValue());
        }
        return kept.size() == properties.size() ? properties : kept;
    }

    /** Options of a writer that creates a table are properties of the table, too, and Delta reads them as such. */
    public static class Options extends SessionRule {
        TreeNode rewritten(LogicalPlan plan, SparkSession session) {
            if (plan instanceof CreateTableAsSelect) {
                CreateTableAsSelect c = (CreateTableAsSelect) plan;
                scala.collection.immutable.Map known = without(c.writeOptions());
                if (known == c.writeOptions()) return c;
                return c.copy(c.name(), c.partitioning(), c.query(), c.tableSpec(), known, c.ignoreIfExists(), c.isAnalyzed());
            }
            if (plan instanceof ReplaceTableAsSelect) {
                ReplaceTableAsSelect r = (ReplaceTableAsSelect) plan;
                scala.collection.immutable.Map known = without(r.writeOptions());
                if (known == r.writeOptions()) return r;
                return r.copy(r.name(), r.partitioning(), r.query(), r.tableSpec(), known, r.orCreate(), r.isAnalyzed());
            }
            return plan;
        }
    }

    private static scala.collection.immutable.Map without(scala.collection.immutable.Map options) {
        scala.collection.immutable.Map kept = options;
        for (scala.collection.Iterator each = options.keysIterator(); each.hasNext();) {
            Object key = each.next();
            if (has(key)) kept = (scala.collection.immutable.Map) kept.removed(key);
        }
        return kept;
    }

    /** The changes of an ALTER TABLE. */
    static TableChange[] without(TableChange[] changes) {
        List kept = new ArrayList();
        for (int i = 0; i < changes.length; i++) {
            boolean sets = changes[i] instanceof TableChange.SetProperty && has(((TableChange.SetProperty) changes[i]).property());
            if (!sets) kept.add(changes[i]);
        }
        return (TableChange[]) kept.toArray(new TableChange[kept.size()]);
    }
}
