package lakeward;

import java.util.ArrayList;
import java.util.HashMap;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.actions.Metadata;
import org.apache.spark.sql.delta.catalog.DeltaTableV2;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/**
 * Identity columns of CREATE TABLE … LIKE. The new table has no rows, and its values begin with those of the
 * definition: Delta copies the highest value of the source, too.
 */
final class IdentityValues {

    private static final String HIGHEST = "delta.identity.highWaterMark";

    private IdentityValues() {
    }

    /** Whether the table had values to forget. */
    static boolean restart(Table created) {
        if (!(created instanceof DeltaTableV2)) return false;
        StructType columns = new StructType();
        boolean isChanged = false;
        for (StructField field : ((DeltaTableV2) created).initialSnapshot().metadata().schema().fields()) {
            boolean hasValues = field.metadata().contains(HIGHEST);
            isChanged = isChanged || hasValues;
            org.apache.spark.sql.types.Metadata rest = hasValues
                ? new MetadataBuilder().withMetadata(field.metadata()).remove(HIGHEST).build() : field.metadata();
            columns = columns.add(field.copy(field.name(), field.dataType(), field.nullable(), rest));
        }
        if (!isChanged) return false;
        OptimisticTransaction transaction = ((DeltaTableV2) created).deltaLog().startTransaction(Option.empty(), Option.empty());
        Metadata before = transaction.metadata();
        transaction.updateMetadata(new Metadata(before.id(), before.name(), before.description(), before.format(), columns.json(),
            before.partitionColumns(), before.configuration(), before.createdTime()), false);
        transaction.commit(PythonUtils.toSeq(new ArrayList()), new DeltaOperation("CHANGE COLUMNS", new HashMap(), new String[0], new HashMap()));
        return true;
    }
}
