package lakeward;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.AliasIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation;
import scala.Option;
import scala.PartialFunction;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * `SELECT sales.orders.id FROM sales.orders`, where the table is not in Delta: Spark qualifies its columns with the
 * database of its session catalog (`main__sales`); this rule gives them the catalog and the schema.
 */
public class TableQualifiers extends SessionRule {

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        return plan.resolveOperators((PartialFunction) new Aliases());
    }

    public static class Aliases extends NodeRewrite {
        public boolean isDefinedAt(Object node) {
            return node instanceof SubqueryAlias && database((SubqueryAlias) node) != null;
        }

        Object replacement(Object node) {
            SubqueryAlias alias = (SubqueryAlias) node;
            String database = database(alias);
            Object[] parts = {IdentifierCodec.catalog(database), IdentifierCodec.schema(database)};
            Seq qualifier = CollectionConverters.asScala(Arrays.asList(parts)).toSeq();
            return alias.copy(new AliasIdentifier(alias.identifier().name(), qualifier), alias.child());
        }
    }

    /** The database of the alias of a catalog's table; null for other aliases and databases of spark_catalog. */
    private static String database(SubqueryAlias alias) {
        Option table = table(alias.child());
        if (table == null || table.isEmpty() || alias.identifier().qualifier().isEmpty()) return null;
        String database = (String) alias.identifier().qualifier().last();
        Option own = ((CatalogTable) table.get()).identifier().database();
        boolean isQualified = own.isDefined() && own.get().equals(database);
        return isQualified && !IdentifierCodec.catalog(database).equals(IdentifierCodec.SESSION) ? database : null;
    }

    private static Option table(LogicalPlan plan) {
        if (plan instanceof LogicalRelation) return ((LogicalRelation) plan).catalogTable();
        return plan instanceof StreamingRelation ? ((StreamingRelation) plan).dataSource().catalogTable() : null;
    }
}
