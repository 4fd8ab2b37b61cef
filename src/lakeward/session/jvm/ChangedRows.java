package lakeward;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.RowIndexFilterType;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.actions.DeletionVectorDescriptor;
import org.apache.spark.sql.delta.deletionvectors.RoaringBitmapArray;
import org.apache.spark.sql.delta.deletionvectors.RoaringBitmapArrayFormat;
import org.apache.spark.sql.delta.storage.dv.HadoopFileSystemDVStore;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Enumeration;
import scala.Option;

/**
 * The rows that two versions of a Delta table differ in, by the files that were removed and added between them.
 *
 * A file whose deletion vector was replaced differs in the rows that one of both vectors marks and the other does
 * not. As in Delta's change data feed, an inline vector marks these rows, and no others are read. Equal rows may be
 * both inserted and deleted.
 */
public class ChangedRows {

    private final DeltaLog log;
    private final HadoopFileSystemDVStore store;
    private final long maxInlineBytes;
    private final List inserted = new ArrayList();
    private final List deleted = new ArrayList();
    private final Map filters = new HashMap();
    private long bytes;
    private boolean marked;

    /** Reads the deletion vectors of files that are in both lists of AddFile. */
    public ChangedRows(DeltaLog log, List added, List removed, long maxInlineBytes) {
        this.log = log;
        this.maxInlineBytes = maxInlineBytes;
        this.store = new HadoopFileSystemDVStore(log.newDeltaHadoopConf());
        Map before = new LinkedHashMap();
        for (int i = 0; i < removed.size(); i++) before.put(((AddFile) removed.get(i)).path(), removed.get(i));
        for (int i = 0; i < added.size(); i++) {
            AddFile file = (AddFile) added.get(i);
            AddFile old = (AddFile) before.remove(file.path());
            if (old == null) readWhole(inserted, file);
            else compare(file, old.deletionVector(), file.deletionVector());
        }
        marked = before.isEmpty();
        Object[] others = before.values().toArray();
        for (int i = 0; i < others.length; i++) readWhole(deleted, (AddFile) others[i]);
    }

    private void readWhole(List side, AddFile file) {
        side.add(file);
        bytes += file.size();
    }

    private void compare(AddFile file, DeletionVectorDescriptor before, DeletionVectorDescriptor after) {
        DeletionVectorDescriptor plus = before;
        DeletionVectorDescriptor minus = after;
        if (before != null && after != null) {
            RoaringBitmapArray old = store.read(before, log.dataPath());
            RoaringBitmapArray current = store.read(after, log.dataPath());
            RoaringBitmapArray onlyOld = without(old, current);
            RoaringBitmapArray onlyCurrent = without(current, old);
            // Of a larger difference the rows of each vector are read: those of both are inserted and deleted.
            if (Math.max(size(onlyOld), size(onlyCurrent)) <= maxInlineBytes) {
                plus = inline(onlyOld);
                minus = inline(onlyCurrent);
            }
        }
        readMarked(inserted, file, plus);
        readMarked(deleted, file, minus);
    }

    private static RoaringBitmapArray without(RoaringBitmapArray rows, RoaringBitmapArray others) {
        RoaringBitmapArray rest = rows.copy();
        rest.diff(others);
        rest.runOptimize();
        return rest;
    }

    private static long size(RoaringBitmapArray rows) {
        return rows.serializedSizeInBytes((Enumeration.Value) RoaringBitmapArrayFormat.Portable());
    }

    private static DeletionVectorDescriptor inline(RoaringBitmapArray rows) {
        byte[] bytes = rows.serializeAsByteArray((Enumeration.Value) RoaringBitmapArrayFormat.Portable());
        return DeletionVectorDescriptor.inlineInLog(bytes, rows.cardinality());
    }

    private void readMarked(List side, AddFile file, DeletionVectorDescriptor rows) {
        if (rows == null || rows.cardinality() == 0) return;
        side.add(new AddFile(file.path(), file.partitionValues(), file.size(), file.modificationTime(), true, null, null, rows, file.baseRowId(), file.defaultRowCommitVersion(), Option.empty(), Option.empty(), Option.empty()));
        filters.put(file.path(), RowIndexFilterType.IF_NOT_CONTAINED);
        Option records = file.numPhysicalRecords();
        double share = records.isEmpty() ? 1.0 : (double) rows.cardinality() / ((Long) records.get()).longValue();
        bytes += Math.round(Math.min(share, 1.0) * file.size());
    }

    /** The files with inserted rows, as `rows` reads them. */
    public List inserted() {
        return inserted;
    }

    /** The files with deleted rows, as `rows` reads them. */
    public List deleted() {
        return deleted;
    }

    /** Whether deletion vectors mark all deleted rows: no file was replaced, so few rows are in both lists. */
    public boolean isMarked() {
        return marked;
    }

    /** Bytes of the rows, those of marked rows by their share of the file. */
    public long bytes() {
        return bytes;
    }

    /** The inserted or deleted rows with the schema of `snapshot`, under the attributes of `relation`. */
    public LogicalPlan rows(LogicalRelation relation, Snapshot snapshot, List files) {
        return SourceChanges.rows(relation, log, snapshot, files, filters);
    }
}
