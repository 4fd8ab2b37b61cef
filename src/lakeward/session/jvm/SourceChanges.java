package lakeward;

import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.SnapshotDescriptor;
import org.apache.spark.sql.delta.actions.Action;
import org.apache.spark.sql.delta.actions.AddCDCFile;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.actions.DeletionVectorDescriptor;
import org.apache.spark.sql.delta.actions.FileAction;
import org.apache.spark.sql.delta.actions.RemoveFile;
import org.apache.spark.sql.delta.commands.cdc.CDCReader;
import org.apache.spark.sql.delta.files.TahoeLogFileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation$;
import scala.Option;
import scala.Some;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The files that two versions of a Delta table differ in, read from the commits between them.
 *
 * A file with a deletion vector and the same file with another one are two files here.
 */
public class SourceChanges {

    private final DeltaLog log;
    private final Map added = new LinkedHashMap();
    private final Map removed = new LinkedHashMap();
    private final Map appended = new LinkedHashMap();
    private final List feed = new ArrayList();
    private boolean isAppend = true;
    private long next;

    /** Reads the commits after version `from` up to version `to`. */
    public SourceChanges(DeltaLog log, long from, long to) {
        this.log = log;
        this.next = from + 1;
        Iterator commits = log.getChanges(from + 1, Option.empty(), true);
        while (commits.hasNext() && next <= to) {
            Tuple2 commit = (Tuple2) commits.next();
            long version = ((Long) commit._1()).longValue();
            if (version != next) return;
            if (version > to) return;
            List actions = CollectionConverters.asJava((scala.collection.immutable.Seq) commit._2());
            boolean removes = false;
            for (int i = 0; i < actions.size(); i++) removes = removes || actions.get(i) instanceof RemoveFile;
            List changed = new ArrayList();
            List recorded = new ArrayList();
            for (int i = 0; i < actions.size(); i++) {
                Action action = (Action) actions.get(i);
                // Row tracking and statistics add the files of the table again: their rows stay.
                if (removes || !(action instanceof AddFile) || ((AddFile) action).dataChange()) apply(action);
                if (action instanceof AddCDCFile) recorded.add(action);
                else if (action instanceof FileAction && ((FileAction) action).dataChange()) changed.add(action);
            }
            feed.addAll(recorded.isEmpty() ? changed : recorded);
            next++;
        }
    }

    private void apply(Action action) {
        if (action instanceof AddFile) {
            AddFile file = (AddFile) action;
            String key = key(file.path(), file.deletionVector());
            if (removed.remove(key) == null) added.put(key, file);
            if (file.dataChange()) appended.put(key, file);
        } else if (action instanceof RemoveFile) {
            RemoveFile file = (RemoveFile) action;
            String key = key(file.path(), file.deletionVector());
            if (added.remove(key) == null) removed.put(key, file);
            if (file.dataChange()) isAppend = false;
        }
    }

    private static String key(String path, DeletionVectorDescriptor vector) {
        return vector == null ? path : path + "|" + vector.uniqueId();
    }

    /** Whether every commit was found. */
    public boolean isComplete(long to) {
        return next == to + 1;
    }

    /** Whether rows were added and none were changed or removed. */
    public boolean isAppend() {
        return isAppend;
    }

    public List appended() {
        return new ArrayList(appended.values());
    }

    public List added() {
        return new ArrayList(added.values());
    }

    /** The removed files as they were added; null if a commit does not record their partition values. */
    public List removed() {
        List files = new ArrayList();
        Object[] all = removed.values().toArray();
        for (int i = 0; i < all.length; i++) {
            RemoveFile file = (RemoveFile) all[i];
            if (file.partitionValues() == null) return null;
            long size = file.size().isDefined() ? ((Long) file.size().get()).longValue() : 0L;
            files.add(new AddFile(file.path(), file.partitionValues(), size, 0L, true, null, null, file.deletionVector(), Option.empty(), Option.empty(), Option.empty(), Option.empty(), Option.empty()));
        }
        return files;
    }

    /** The files that the change data feed reads: those that record changes, else the commit's own. */
    public List feed() {
        return feed;
    }

    /** Bytes of files; deletion vectors do not count. */
    public static long bytes(List files) {
        long total = 0;
        for (int i = 0; i < files.size(); i++) total += ((FileAction) files.get(i)).getFileSize();
        return total;
    }

    /** The first of these files, or of the files with their deletion vectors, that is gone, else null. */
    public static String missing(DeltaLog log, List files) throws Exception {
        FileSystem system = log.dataPath().getFileSystem(log.newDeltaHadoopConf());
        // One file has the vectors of many.
        Set paths = new LinkedHashSet();
        for (int i = 0; i < files.size(); i++) {
            FileAction file = (FileAction) files.get(i);
            Path path = new Path(new URI(file.path()));
            paths.add(path.isAbsolute() ? path : new Path(log.dataPath(), path));
            DeletionVectorDescriptor vector = file.deletionVector();
            if (vector != null && vector.isOnDisk()) paths.add(vector.absolutePath(log.dataPath()));
        }
        Object[] all = paths.toArray();
        for (int i = 0; i < all.length; i++) {
            if (!system.exists((Path) all[i])) return all[i].toString();
        }
        return null;
    }

    /** The files of a version. */
    public static List files(Snapshot snapshot) {
        return new ArrayList(snapshot.allFiles().collectAsList());
    }

    /** By line, for each file, the last part of its path and what tells its deletion vector from others. */
    public static String names(List files) {
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < files.size(); i++) {
            AddFile file = (AddFile) files.get(i);
            if (i > 0) names.append('\n');
            names.append(key(file.path().substring(file.path().lastIndexOf('/') + 1), file.deletionVector()));
        }
        return names.toString();
    }

    /** The files at these positions, which are separated by commas. */
    public static List at(List files, String positions) {
        List chosen = new ArrayList();
        String[] each = positions.isEmpty() ? new String[0] : positions.split(",");
        for (int i = 0; i < each.length; i++) chosen.add(files.get(Integer.parseInt(each[i])));
        return chosen;
    }

    /** The rows of these files with the schema of `snapshot`, under the attributes of `relation`. */
    public static LogicalPlan rows(LogicalRelation relation, DeltaLog log, Snapshot snapshot, List files) {
        return rows(relation, log, snapshot, files, Collections.emptyMap());
    }

    /** The same, with a RowIndexFilterType by path of the files from which other rows are read. */
    static LogicalPlan rows(LogicalRelation relation, DeltaLog log, Snapshot snapshot, List files, Map filters) {
        SparkSession session = ((HadoopFsRelation) relation.relation()).sparkSession();
        MarkedRowsIndex index = new MarkedRowsIndex(session, log, (SnapshotDescriptor) snapshot, files, PythonUtils.toScalaMap(filters));
        HadoopFsRelation read = log.buildHadoopFsRelationWithFileIndex((SnapshotDescriptor) snapshot, index, Option.empty(), false);
        return ViewPlan.named(LogicalRelation$.MODULE$.apply(read, false), relation.output());
    }

    /** The rows that the change data feed after version `from` has inserted, or deleted. Fails where the feed was off. */
    public static LogicalPlan changed(LogicalRelation relation, DeltaLog log, Snapshot snapshot, long from, boolean inserted) {
        SparkSession session = ((HadoopFsRelation) relation.relation()).sparkSession();
        Dataset rows = (Dataset) CDCReader.changesToBatchDF(log, from + 1, snapshot.version(), session, Option.empty(), new Some(snapshot), false, Option.empty());
        String types = inserted ? "'insert', 'update_postimage'" : "'delete', 'update_preimage'";
        return ViewPlan.named(rows.where("_change_type IN (" + types + ")").queryExecution().analyzed(), relation.output());
    }

    /** A relation that reads this version of its table, whatever is committed later. */
    public static LogicalPlan pinned(LogicalRelation relation, Snapshot snapshot) {
        HadoopFsRelation files = (HadoopFsRelation) relation.relation();
        TahoeLogFileIndex index = (TahoeLogFileIndex) files.location();
        TahoeLogFileIndex fixed = new TahoeLogFileIndex(index.spark(), index.deltaLog(), index.path(), ListedSnapshot.of(snapshot), index.catalogTableOpt(), index.partitionFilters(), true);
        HadoopFsRelation read = new HadoopFsRelation(fixed, files.partitionSchema(), files.dataSchema(), files.bucketSpec(), files.fileFormat(), files.options(), files.sparkSession());
        return relation.copy(read, relation.output(), relation.catalogTable(), relation.isStreaming(), relation.stream());
    }
}
