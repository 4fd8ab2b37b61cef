package lakeward;

import org.apache.spark.sql.connector.expressions.ClusterByTransform;
import org.apache.spark.sql.connector.expressions.Transform;

/**
 * The clustering columns of DataFrameWriter.clusterBy and its like, which Delta takes for a partitioning: it
 * has a class of its own for the columns of CLUSTER BY.
 */
final class ClusteringColumns {

    private ClusteringColumns() {
    }

    static Transform[] forDelta(Transform[] partitions) {
        Transform[] known = (Transform[]) partitions.clone();
        for (int i = 0; i < known.length; i++) {
            if (!(known[i] instanceof ClusterByTransform)) continue;
            known[i] = new org.apache.spark.sql.delta.skipping.clustering.temp.ClusterByTransform(
                ((ClusterByTransform) known[i]).columnNames());
        }
        return known;
    }
}
