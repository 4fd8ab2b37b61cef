package lakeward;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.delta.CapturedSnapshot;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.VersionChecksum;
import org.apache.spark.sql.delta.actions.Action;
import org.apache.spark.sql.delta.actions.Action$;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.actions.FileAction;
import org.apache.spark.sql.delta.actions.SingleAction$;
import org.apache.spark.sql.delta.catalog.DeltaTableV2;
import org.apache.spark.sql.delta.files.TahoeLogFileIndex;
import org.apache.spark.sql.delta.util.FileNames$;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.functions;
import scala.None$;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A version of a table with few files, as its checksum lists them. Delta writes the list with each commit, but
 * finds the files of a new version in the log, in a Spark job that takes longer than most queries of such a table.
 */
public class ListedSnapshot extends Snapshot {

    /** Commits without files after the list that are read at most. Delta's checkpoints are as far apart. */
    private static final int MAX_UNLISTED = 10;

    private final VersionChecksum checksum;
    private final List files;

    private ListedSnapshot(Snapshot of, List files) {
        super(of.path(), of.version(), of.logSegment(), of.deltaLog(), of.checksumOpt());
        this.checksum = (VersionChecksum) of.checksumOpt().get();
        this.files = files;
    }

    /** The version with the files of its checksum; `of` itself without such, or if it has found its files. */
    public static Snapshot of(Snapshot of) {
        if (of instanceof ListedSnapshot || of.stateReconstructionTriggered() || of.checksumOpt().isEmpty()) return of;
        Option files = ((VersionChecksum) of.checksumOpt().get()).allFiles();
        for (long version = of.version(); files.isEmpty() && version > 0 && version > of.version() - MAX_UNLISTED; version--) {
            if (changesFiles(of.deltaLog(), version)) return of;
            Option before = of.deltaLog().readChecksum(version - 1, None$.MODULE$);
            if (before.isEmpty()) return of;
            files = ((VersionChecksum) before.get()).allFiles();
        }
        return files.isEmpty() ? of : new ListedSnapshot(of, CollectionConverters.asJava((Seq) files.get()));
    }

    /** Delta lists no files after ALTER TABLE and other changes of the metadata alone: they are those of the version before. */
    private static boolean changesFiles(DeltaLog log, long version) {
        Path file = FileNames$.MODULE$.unsafeDeltaFile(log.logPath(), version);
        Seq lines;
        try {
            lines = log.store().read(file, log.newDeltaHadoopConf());
        } catch (Exception unreadable) {  // removed by a clean-up of the log
            return true;
        }
        for (int i = 0; i < lines.length(); i++) {
            Action action = Action$.MODULE$.fromJson((String) lines.apply(i));
            if (action instanceof FileAction) return true;
        }
        return false;
    }

    public Dataset allFiles() {
        return spark().createDataset(files, SingleAction$.MODULE$.addFileEncoder());
    }

    /** The files that a scan of all rows reads. Delta runs a query for them, to leave out their statistics. */
    public Seq getAllFiles(boolean keepNumRecords) {
        if (keepNumRecords) return super.getAllFiles(true);
        List scanned = new ArrayList();
        for (int i = 0; i < files.size(); i++) {
            AddFile f = (AddFile) files.get(i);
            scanned.add(f.copy(f.path(), f.partitionValues(), f.size(), f.modificationTime(), f.dataChange(), null, f.tags(), f.deletionVector(),
                f.baseRowId(), f.defaultRowCommitVersion(), f.clusteringProvider(), f.backReference(), f.amtPassthrough()));
        }
        return CollectionConverters.asScala(scanned).toList();
    }

    public Dataset withStatsInternal() {
        return allFiles().withColumn("stats", functions.from_json(functions.col("stats"), statsSchema()));
    }

    public long sizeInBytes() {
        return checksum.tableSizeBytes();
    }

    public long numOfFiles() {
        return checksum.numFiles();
    }

    public Option numDeletedRecordsOpt() {
        return checksum.numDeletedRecordsOpt();
    }

    public Option numDeletionVectorsOpt() {
        return checksum.numDeletionVectorsOpt();
    }

    public Seq setTransactions() {
        return checksum.setTransactions().isDefined() ? (Seq) checksum.setTransactions().get() : super.setTransactions();
    }

    public Seq domainMetadata() {
        return checksum.domainMetadata().isDefined() ? (Seq) checksum.domainMetadata().get() : super.domainMetadata();
    }

    /** Lets Delta use such versions of the tables that a query reads or changes. */
    public static class OfTables extends SessionRule {
        TreeNode rewritten(LogicalPlan plan, SparkSession session) {
            Seq leaves = plan.collectLeaves();
            for (int i = 0; i < leaves.length(); i++) {
                if (leaves.apply(i) instanceof ResolvedTable) useTable(((ResolvedTable) leaves.apply(i)).table());
                if (!(leaves.apply(i) instanceof LogicalRelation)) continue;
                Object relation = ((LogicalRelation) leaves.apply(i)).relation();
                if (!(relation instanceof HadoopFsRelation)) continue;
                FileIndex index = ((HadoopFsRelation) relation).location();
                if (index instanceof TahoeLogFileIndex) use(((TahoeLogFileIndex) index).deltaLog());
            }
            return plan;
        }

        private static void useTable(Table table) {
            if (table instanceof DeltaTableV2) use(((DeltaTableV2) table).deltaLog());
        }

        private static void use(DeltaLog log) {
            CapturedSnapshot current = log.currentSnapshot();
            Snapshot listed = of(current.snapshot());
            // A thread that has the lock is about to use a newer version.
            if (listed == current.snapshot() || !log.snapshotLock().tryLock()) return;
            try {
                if (log.currentSnapshot() == current) {
                    log.currentSnapshot_$eq(new CapturedSnapshot(listed, current.updateTimestamp()));
                }
            } finally {
                log.snapshotLock().unlock();
            }
        }
    }
}
