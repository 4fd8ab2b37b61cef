package lakeward;

import java.util.List;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.SnapshotDescriptor;
import org.apache.spark.sql.delta.files.TahoeBatchFileIndex;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/** Files of a Delta table; from some of them the rows are read that their deletion vector marks, and no others. */
public class MarkedRowsIndex extends TahoeBatchFileIndex {

    private final Map filters;

    /** `filters` has a RowIndexFilterType by the path of each file that is not read as usual. */
    public MarkedRowsIndex(SparkSession session, DeltaLog log, SnapshotDescriptor snapshot, List files, Map filters) {
        super(session, "batch", PythonUtils.toSeq(files), log, log.dataPath(), snapshot, false);
        this.filters = filters;
    }

    public Option rowIndexFilters() {
        return new Some(filters);
    }

    /** Delta filters the files as a Dataset, for which it compiles code, also where each of them matches. */
    public Seq matchingFiles(Seq partitionFilters, Seq dataFilters) {
        for (int i = 0; i < partitionFilters.length(); i++) {
            if (!partitionFilters.apply(i).equals(Literal.TrueLiteral())) return super.matchingFiles(partitionFilters, dataFilters);
        }
        return addFiles();
    }
}
