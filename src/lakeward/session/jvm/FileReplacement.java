package lakeward;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.optimizer.ConstantFolding$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.SnapshotDescriptor;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.files.TahoeLogFileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.util.AccumulatorV2;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * Files of a Delta table that other rows replace in one commit. A MERGE reads them twice, in about ten Spark jobs;
 * this writes their new rows in one.
 */
public class FileReplacement {

    private static final String[] MEASURED = {"numFiles", "numOutputRows", "numOutputBytes"};

    private final SparkSession session;
    private final LogicalRelation relation;
    private final OptimisticTransaction transaction;
    private final Seq files;
    private Seq written;

    /** Starts a transaction and finds the files that may have rows that meet `condition`, by their statistics. */
    public FileReplacement(SparkSession session, String name, String condition) {
        this.session = session;
        Dataset rows = (Dataset) PolicyRules.rows(session, name).as("t").where(condition);
        // Delta finds files by conditions as the optimizer leaves them.
        LogicalPlan plan = ConstantFolding$.MODULE$.apply(rows.queryExecution().analyzed());
        List conjuncts = new ArrayList();
        if (plan instanceof Filter) split(((Filter) plan).condition(), conjuncts);
        relation = (LogicalRelation) plan.collectLeaves().apply(0);
        TahoeLogFileIndex index = (TahoeLogFileIndex) ((HadoopFsRelation) relation.relation()).location();
        transaction = index.deltaLog().startTransaction(relation.catalogTable(), Option.empty());
        files = transaction.filterFiles(PythonUtils.toSeq(conjuncts), true);
    }

    private static void split(Expression condition, List conjuncts) {
        if (condition instanceof And) {
            split(((And) condition).left(), conjuncts);
            split(((And) condition).right(), conjuncts);
        } else {
            conjuncts.add(condition);
        }
    }

    public int count() {
        return files.length();
    }

    public long bytes() {
        long total = 0;
        for (int i = 0; i < files.length(); i++) total += ((AddFile) files.apply(i)).size();
        return total;
    }

    /** Whether a property of the table is `true`. */
    public boolean has(String property) {
        Option value = transaction.metadata().configuration().get(property);
        return value.isDefined() && "true".equalsIgnoreCase((String) value.get());
    }

    /** The number of rows of the files, -1 if a file does not record it. */
    public long records() {
        long total = 0;
        for (int i = 0; i < files.length(); i++) {
            Option records = ((AddFile) files.apply(i)).numLogicalRecords();
            if (records.isEmpty()) return -1;
            total += ((Long) records.get()).longValue();
        }
        return total;
    }

    /** The rows of the files. */
    public Dataset rows() {
        SnapshotDescriptor snapshot = (SnapshotDescriptor) transaction.snapshot();
        return (Dataset) transaction.deltaLog().createDataFrame(snapshot, files, false, Option.empty());
    }

    /** Write rows into new files, which no version has before `commit`; return their number. */
    public long write(Dataset rows) {
        written = transaction.writeFiles(rows, Option.empty(), PythonUtils.toSeq(new ArrayList()));
        // Of the two methods `value` of a metric, Janino finds none.
        return ((Long) ((AccumulatorV2) transaction.getMetric("numOutputRows").get()).value()).longValue();
    }

    /** Commit the new files in place of the others; `counted` are metrics of the operation by name. */
    public void commit(String operation, Map counted) {
        List actions = new ArrayList();
        long now = System.currentTimeMillis();
        for (int i = 0; i < files.length(); i++) {
            actions.add(((AddFile) files.apply(i)).removeWithTimestamp(now, true));
        }
        for (int i = 0; i < written.length(); i++) actions.add(written.apply(i));
        Map metrics = new HashMap(counted);
        metrics.put("numRemovedFiles", String.valueOf(files.length()));
        DeltaOperation named = new DeltaOperation(operation, new HashMap(), MEASURED, metrics);
        transaction.commit(PythonUtils.toSeq(actions), named);
        session.sharedState().cacheManager().recacheByPlan(session, relation);
    }
}
