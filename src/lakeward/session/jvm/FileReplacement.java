package lakeward;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.optimizer.ConstantFolding$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.SnapshotDescriptor;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.commands.DMLWithDeletionVectorsHelper$;
import org.apache.spark.sql.delta.commands.DeletionVectorBitmapGenerator$;
import org.apache.spark.sql.delta.commands.TouchedFileWithDV;
import org.apache.spark.sql.delta.files.TahoeBatchFileIndex;
import org.apache.spark.sql.delta.files.TahoeLogFileIndex;
import org.apache.spark.sql.delta.stats.StatsCollectionUtils$;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.functions;
import org.apache.spark.util.AccumulatorV2;
import scala.Option;
import scala.Some;
import scala.Tuple2;
import scala.collection.immutable.Seq;

/**
 * Rows of a Delta table that other rows replace in one commit. A MERGE reads their files twice, in about ten Spark
 * jobs; this writes the new rows in one. Some files are rewritten; of others, deletion vectors mark the replaced rows.
 */
public class FileReplacement {

    private static final String[] MEASURED = {"numFiles", "numOutputRows", "numOutputBytes"};
    private static final String FILE = "lakeward_file";
    private static final String ROW = "lakeward_row";

    private final SparkSession session;
    private final LogicalRelation relation;
    private final OptimisticTransaction transaction;
    private final List conjuncts = new ArrayList();
    private final long largest;
    private final long total;
    /** Found on first use: the table's properties may make the files unnecessary. */
    private Seq files;
    private final List rewritten = new ArrayList();
    private final List marked = new ArrayList();
    private final List vectors = new ArrayList();
    private Seq written;
    /** Delta's metrics of the marked rows by name, null without such rows. */
    private scala.collection.immutable.Map marks;

    /**
     * Starts a transaction that replaces rows which meet `condition`. Of a table with deletion vectors, the files up
     * to `largest` bytes are rewritten, `total` bytes together, and those of whose rows half are marked; if `total`
     * is 0, none is.
     */
    public FileReplacement(SparkSession session, String name, String condition, long largest, long total) {
        this.session = session;
        this.largest = largest;
        this.total = total;
        Dataset rows = (Dataset) PolicyRules.rows(session, name).as("t").where(condition);
        // Delta finds files by conditions as the optimizer leaves them.
        LogicalPlan plan = ConstantFolding$.MODULE$.apply(rows.queryExecution().analyzed());
        if (plan instanceof Filter) split(((Filter) plan).condition(), conjuncts);
        relation = (LogicalRelation) plan.collectLeaves().apply(0);
        TahoeLogFileIndex index = (TahoeLogFileIndex) ((HadoopFsRelation) relation.relation()).location();
        transaction = index.deltaLog().startTransaction(relation.catalogTable(), Option.empty());
    }

    /** The files that may have rows that meet the condition, by their statistics. */
    private Seq files() {
        if (files == null) {
            files = transaction.filterFiles(PythonUtils.toSeq(conjuncts), true);
            divide();
        }
        return files;
    }

    private List rewrittenFiles() {
        files();
        return rewritten;
    }

    private List markedFiles() {
        files();
        return marked;
    }

    private void divide() {
        long left = total;
        boolean marks = has("delta.enableDeletionVectors");
        for (int i = 0; i < files.length(); i++) {
            AddFile file = (AddFile) files.apply(i);
            boolean isSmall = file.size() <= Math.min(largest, left);
            if (isSmall) left -= file.size();
            boolean isRewritten = !marks || total > 0 && (isSmall || isHalfMarked(file));
            (isRewritten ? rewritten : marked).add(file);
        }
    }

    private static boolean isHalfMarked(AddFile file) {
        Option records = file.numPhysicalRecords();
        if (file.deletionVector() == null || records.isEmpty()) return false;
        return 2 * file.deletionVector().cardinality() > ((Long) records.get()).longValue();
    }

    private static void split(Expression condition, List conjuncts) {
        if (condition instanceof And) {
            split(((And) condition).left(), conjuncts);
            split(((And) condition).right(), conjuncts);
        } else {
            conjuncts.add(condition);
        }
    }

    /** Names of the table's columns. */
    public String[] columns() {
        return transaction.metadata().schema().fieldNames();
    }

    public int count() {
        return files().length();
    }

    /** Bytes of the files that are rewritten. */
    public long bytes() {
        List chosen = rewrittenFiles();
        long total = 0;
        for (int i = 0; i < chosen.size(); i++) total += ((AddFile) chosen.get(i)).size();
        return total;
    }

    /** Whether a property of the table is `true`. */
    public boolean has(String property) {
        Option value = transaction.metadata().configuration().get(property);
        return value.isDefined() && "true".equalsIgnoreCase((String) value.get());
    }

    /** The number of rows of the files that are rewritten, -1 if a file does not record it. */
    public long records() {
        List chosen = rewrittenFiles();
        long total = 0;
        for (int i = 0; i < chosen.size(); i++) {
            Option records = ((AddFile) chosen.get(i)).numLogicalRecords();
            if (records.isEmpty()) return -1;
            total += ((Long) records.get()).longValue();
        }
        return total;
    }

    /** The rows of all files. */
    public Dataset rows() {
        return rows(files());
    }

    /** The rows of the files that are rewritten. */
    public Dataset rewritten() {
        return rows(PythonUtils.toSeq(rewrittenFiles()));
    }

    private Dataset rows(Seq chosen) {
        SnapshotDescriptor snapshot = (SnapshotDescriptor) transaction.snapshot();
        return (Dataset) transaction.deltaLog().createDataFrame(snapshot, chosen, false, Option.empty());
    }

    /** The rows of the files that are not rewritten with their places, null without such files. */
    public Dataset markable() {
        if (markedFiles().isEmpty()) return null;
        DeltaLog log = transaction.deltaLog();
        SnapshotDescriptor snapshot = (SnapshotDescriptor) transaction.snapshot();
        TahoeBatchFileIndex index = new TahoeBatchFileIndex(session, "refresh", PythonUtils.toSeq(marked), log, log.dataPath(), snapshot, false);
        Dataset rows = (Dataset) DMLWithDeletionVectorsHelper$.MODULE$.createTargetDfForScanningForMatches(session, relation, index);
        return (Dataset) rows.withColumn(FILE, functions.col("_metadata.file_path")).withColumn(ROW, functions.col("_metadata.row_index"));
    }

    /** Mark the rows with these places, and return how many there are. */
    public long mark(Dataset places) {
        Seq candidates = PythonUtils.toSeq(marked);
        boolean haveVectors = false;
        for (int i = 0; i < marked.size(); i++) {
            haveVectors = haveVectors || ((AddFile) marked.get(i)).deletionVector() != null;
        }
        DMLWithDeletionVectorsHelper$ helper = DMLWithDeletionVectorsHelper$.MODULE$;
        Seq found = DeletionVectorBitmapGenerator$.MODULE$.buildRowIndexSetsForFilesMatchingCondition(session, transaction, haveVectors, places, candidates, Literal.TrueLiteral(), new Some(functions.col(FILE)), new Some(functions.col(ROW)));
        Seq touched = helper.findFilesWithMatchingRows(transaction, helper.generateCandidateFileMap(transaction.deltaLog().dataPath(), candidates), found);
        int prefix = StatsCollectionUtils$.MODULE$.getDataSkippingStringPrefixLength(session, transaction.metadata());
        Tuple2 done = helper.processUnmodifiedData(session, touched, transaction.snapshot(), prefix);
        Seq actions = (Seq) done._1();
        for (int i = 0; i < actions.length(); i++) vectors.add(actions.apply(i));
        marks = (scala.collection.immutable.Map) done._2();
        long rows = 0;
        for (int i = 0; i < touched.length(); i++) rows += ((TouchedFileWithDV) touched.apply(i)).numberOfModifiedRows();
        return rows;
    }

    /** Write rows into new files, which no version has before `commit`; return their number. */
    public long write(Dataset rows) {
        written = transaction.writeFiles(rows, Option.empty(), PythonUtils.toSeq(new ArrayList()));
        // Of the two methods `value` of a metric, Janino finds none.
        return ((Long) ((AccumulatorV2) transaction.getMetric("numOutputRows").get()).value()).longValue();
    }

    private long marks(String metric) {
        Option found = marks == null ? Option.empty() : marks.get(metric);
        return found.isEmpty() ? 0 : ((Number) found.get()).longValue();
    }

    /** Commit the new files and marks in place of the other rows; `counted` are metrics of the operation by name. */
    public void commit(String operation, Map counted) {
        List actions = new ArrayList(vectors);
        long now = System.currentTimeMillis();
        for (int i = 0; i < rewritten.size(); i++) {
            actions.add(((AddFile) rewritten.get(i)).removeWithTimestamp(now, true));
        }
        for (int i = 0; i < written.length(); i++) actions.add(written.apply(i));
        Map metrics = new HashMap(counted);
        metrics.put("numTargetFilesAdded", String.valueOf(written.length()));
        metrics.put("numTargetFilesRemoved", String.valueOf(rewritten.size() + marks("numRemovedFiles")));
        // A MERGE counts another vector of a file as added, removed and updated.
        long updated = marks("numDeletionVectorsUpdated");
        metrics.put("numTargetDeletionVectorsAdded", String.valueOf(marks("numDeletionVectorsAdded") + updated));
        metrics.put("numTargetDeletionVectorsRemoved", String.valueOf(marks("numDeletionVectorsRemoved") + updated));
        metrics.put("numTargetDeletionVectorsUpdated", String.valueOf(updated));
        DeltaOperation named = new DeltaOperation(operation, new HashMap(), MEASURED, metrics);
        transaction.commit(PythonUtils.toSeq(actions), named);
        session.sharedState().cacheManager().recacheByPlan(session, relation);
    }
}
