package lakeward;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.actions.Format;
import org.apache.spark.sql.delta.actions.Metadata;
import org.apache.spark.sql.types.DataType;
import scala.Option;
import scala.Some;

/**
 * Adds a Parquet file to a Delta table, and creates the table, in one commit without a Spark job. A checkpoint every
 * ten commits would take several times as long.
 */
public class AppendedFile {

    private static final Map PROPERTIES = Collections.singletonMap("delta.checkpointInterval", "100");

    /** Adds the file; false if the table has other columns than `schema`, in JSON, or other properties. */
    public static boolean commit(SparkSession session, String folder, String file, long size, long rows, String schema) {
        DeltaLog log = DeltaLog.forTable(session, folder);
        Snapshot newest = log.update(false, Option.empty(), Option.empty());
        DataType columns = DataType.fromJson(schema);
        boolean isNew = newest.version() < 0;
        if (!isNew && !(newest.metadata().schema().equals(columns) && isUsual(newest.metadata().configuration()))) return false;
        OptimisticTransaction transaction = log.startTransaction(Option.empty(), new Some(newest));
        scala.collection.immutable.Map none = PythonUtils.toScalaMap(new HashMap());
        long now = System.currentTimeMillis();
        if (isNew) {
            Format parquet = new Format("parquet", none);
            transaction.updateMetadata(new Metadata(UUID.randomUUID().toString(), null, null, parquet, columns.json(), PythonUtils.toSeq(new ArrayList()), PythonUtils.toScalaMap(PROPERTIES), new Some(Long.valueOf(now))), false);
        }
        String statistics = "{\"numRecords\":" + rows + "}";
        AddFile added = new AddFile(file, none, size, now, true, statistics, null, null, Option.empty(), Option.empty(), Option.empty(), Option.empty(), Option.empty());
        Map parameters = new HashMap();
        parameters.put("mode", "Append");
        parameters.put("partitionBy", "[]");
        Map metrics = new HashMap();
        metrics.put("numFiles", "1");
        metrics.put("numOutputRows", String.valueOf(rows));
        metrics.put("numOutputBytes", String.valueOf(size));
        DeltaOperation operation = new DeltaOperation("WRITE", parameters, new String[0], metrics);
        transaction.commit(PythonUtils.toSeq(new ArrayList(Collections.singletonList(added))), operation);
        return true;
    }

    private static boolean isUsual(scala.collection.immutable.Map properties) {
        return properties.isEmpty() || properties.equals(PythonUtils.toScalaMap(PROPERTIES));
    }
}
