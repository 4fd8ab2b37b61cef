package lakeward;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.Serializable;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.classic.Dataset;
import scala.Function2;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.runtime.AbstractFunction2;

/**
 * Writes Arrow batches to files, one file a partition: a length of four bytes before each batch. Collecting
 * them would need memory for the whole result.
 */
public class ArrowFiles extends AbstractFunction2 implements Serializable {

    private final String folder;
    private final long most;

    public ArrowFiles(String folder, long most) {
        this.folder = folder;
        this.most = most;
    }

    /**
     * Run the query and write its partitions to `folder`/NUMBER; of each at least `most` bytes, if it has
     * them. The number of the partitions.
     */
    public static int write(Dataset frame, String folder, long most) {
        RDD batches = frame.toArrowBatchRdd(frame.queryExecution().executedPlan());
        SparkContext context = frame.sparkSession().sparkContext();
        context.runJob(batches, (Function2) new ArrowFiles(folder, most), (ClassTag) scala.reflect.ClassTag$.MODULE$.AnyRef());
        return batches.getNumPartitions();
    }

    public Object apply(Object task, Object batches) {
        TaskContext context = (TaskContext) task;
        // A task that is retried begins again.
        File file = new File(folder, String.valueOf(context.partitionId()));
        try {
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(file), 1 << 16));
            try {
                Iterator each = (Iterator) batches;
                long written = 0;
                while (written <= most && each.hasNext()) {
                    byte[] batch = (byte[]) each.next();
                    out.writeInt(batch.length);
                    out.write(batch);
                    written += batch.length;
                    context.killTaskIfInterrupted();
                }
            } finally {
                out.close();
            }
        } catch (IOException e) {
            throw WarehouseCatalog.sneak(e);
        }
        return null;
    }
}
