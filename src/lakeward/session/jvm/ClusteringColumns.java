package lakeward;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2CreateTablePlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.expressions.ClusterByTransform;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.FieldReference;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.delta.ClusteringTableFeature$;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.Protocol;
import org.apache.spark.sql.delta.actions.Protocol$;
import org.apache.spark.sql.delta.catalog.DeltaTableV2;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Seq;

/**
 * The clustering columns of a new table. Those of DataFrameWriter.clusterBy and its like Delta takes for a
 * partitioning: it has a class of its own for the columns of CLUSTER BY. An unknown one has the condition that ALTER
 * TABLE … CLUSTER BY has; Spark calls it a partitioning by a nested column, and one in another case, too.
 */
public class ClusteringColumns extends SessionRule {

    private static final String OF_DELTA = "temp_cluster_by";

    static Transform[] forDelta(Transform[] partitions) {
        Transform[] known = (Transform[]) partitions.clone();
        for (int i = 0; i < known.length; i++) {
            if (!(known[i] instanceof ClusterByTransform)) continue;
            known[i] = new org.apache.spark.sql.delta.skipping.clustering.temp.ClusterByTransform(
                ((ClusterByTransform) known[i]).columnNames());
        }
        return known;
    }

    static boolean isIn(Transform[] partitions) {
        for (int i = 0; i < partitions.length; i++) {
            if (partitions[i] instanceof ClusterByTransform || partitions[i].name().equals(OF_DELTA)) return true;
        }
        return false;
    }

    /**
     * Add the feature to a table without it, whose rows are overwritten: Delta adds it to a new definition alone. A
     * table of partitions keeps them, unless its definition is overwritten, too.
     */
    static void support(DeltaTableV2 table, boolean hasNewSchema) {
        Snapshot snapshot = table.initialSnapshot();
        if (!hasNewSchema && !snapshot.metadata().partitionColumns().isEmpty()) {
            throw PythonSqlBridge.error("DELTA_METADATA_MISMATCH", "42KDG", "A metadata mismatch was detected when writing to the Delta table.\n"
                + "It is partitioned by " + snapshot.metadata().partitionColumns().mkString(", ") + ": to cluster it instead, set"
                + " .option(\"overwriteSchema\", \"true\").");
        }
        if (snapshot.protocol().isFeatureSupported(ClusteringTableFeature$.MODULE$)) return;
        Object[] added = new Object[] {Protocol$.MODULE$.forTableFeature(ClusteringTableFeature$.MODULE$)};
        Protocol wanted = snapshot.protocol().merge(PythonUtils.toSeq(Arrays.asList(added)));
        // Delta's own method prints to the user's output.
        OptimisticTransaction transaction = table.deltaLog().startTransaction(table.catalogTable(), Option.empty());
        transaction.commit(PythonUtils.toSeq(Arrays.asList(new Object[] {wanted})),
            new DeltaOperation("UPGRADE PROTOCOL", new HashMap(), new String[0], new HashMap()));
    }

    TreeNode rewritten(LogicalPlan plan, SparkSession session) {
        if (!(plan instanceof V2CreateTablePlan) || !plan.childrenResolved()) return plan;
        Seq partitioning = ((V2CreateTablePlan) plan).partitioning();
        List named = new ArrayList();
        boolean isChanged = false;
        for (int i = 0; i < partitioning.length(); i++) {
            Transform each = (Transform) partitioning.apply(i);
            boolean isClustering = each instanceof ClusterByTransform || each.name().equals(OF_DELTA);
            Transform known = isClustering ? named(each, ((V2CreateTablePlan) plan).tableSchema(), session) : each;
            isChanged = isChanged || known != each;
            named.add(known);
        }
        return isChanged ? (TreeNode) ((V2CreateTablePlan) plan).withPartitioning(PythonUtils.toSeq(named)) : plan;
    }

    /** The columns with the names that they have in the table. */
    private static Transform named(Transform clustering, StructType schema, SparkSession session) {
        List columns = new ArrayList();
        boolean isChanged = false;
        // Not `references`, which has no order.
        Expression[] given = clustering.arguments();
        for (int i = 0; i < given.length; i++) {
            NamedReference each = (NamedReference) given[i];
            Seq name = PythonUtils.toSeq(Arrays.asList((Object[]) each.fieldNames()));
            Option found = schema.findNestedField(name, false, session.sessionState().conf().resolver(), schema.findNestedField$default$4());
            if (found.isEmpty()) {
                throw PythonSqlBridge.error("DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", "42703", "Couldn't find column " + String.join(".", each.fieldNames())
                    + " of CLUSTER BY in:\n" + schema.treeString(Integer.MAX_VALUE).trim());
            }
            Tuple2 place = (Tuple2) found.get();
            Seq own = (Seq) ((Seq) place._1()).appended(((StructField) place._2()).name());
            isChanged = isChanged || !own.equals(name);
            columns.add(new FieldReference(own));
        }
        return isChanged ? new org.apache.spark.sql.delta.skipping.clustering.temp.ClusterByTransform(PythonUtils.toSeq(columns)) : clustering;
    }
}
