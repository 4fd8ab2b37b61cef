package lakeward;

import java.util.Arrays;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.delta.DeltaOperations;
import scala.Option;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Set;

/** An operation of the platform that Delta does not know, as DESCRIBE HISTORY shows it. */
public class DeltaOperation extends DeltaOperations.Operation {

    private final Map parameters;
    private final Set measured;
    private final java.util.Map counted;
    private java.util.Map metrics = new java.util.HashMap();

    /** `parameters` are shown as they are; `measured` names metrics of the write, `counted` further ones by name. */
    public DeltaOperation(String name, java.util.Map parameters, String[] measured, java.util.Map counted) {
        super(name);
        this.parameters = PythonUtils.toScalaMap(parameters);
        this.measured = PythonUtils.toSeq(Arrays.asList((Object[]) measured)).toSet();
        this.counted = counted;
    }

    public Map parameters() {
        return parameters;
    }

    public Set operationMetrics() {
        return measured;
    }

    public Map transformMetrics(Map all) {
        java.util.Map out = new java.util.HashMap(counted);
        Iterator written = super.transformMetrics(all).iterator();
        while (written.hasNext()) {
            Tuple2 one = (Tuple2) written.next();
            out.put(one._1(), one._2());
        }
        metrics = out;
        return PythonUtils.toScalaMap(out);
    }

    /** What the last write with this operation measured. */
    public java.util.Map metrics() {
        return metrics;
    }

    public boolean changesData() {
        return true;
    }

    public boolean checkAddFileWithDeletionVectorStatsAreNotTightBounds() {
        return true;
    }

    public Option isInPlaceFileMetadataUpdate() {
        return new scala.Some(Boolean.FALSE);
    }

    public boolean canChangePartitionColumns() {
        return false;
    }
}
