package lakeward;

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute$;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.commands.MergeIntoCommand;
import org.apache.spark.sql.delta.commands.MergeIntoCommandBase$;
import org.apache.spark.sql.delta.files.TahoeFileIndex;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.command.ExecutedCommandExec;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.collection.immutable.Set;

/**
 * A MERGE that takes a row for matched only if there is a row of the target. Where it marks rows by deletion vectors,
 * Delta 4.4 evaluates the ON condition on the outer join: `t.k &lt;=&gt; s.k` is true for a source row with a NULL key
 * that equals no row. If no clause inserts the row, the statement fails with "Unexpected row".
 */
public class PresentTargetMerge extends MergeIntoCommand {

    private boolean joinsOuter = true;

    public PresentTargetMerge(LogicalPlan source, LogicalPlan target, Option table, TahoeFileIndex files, Expression condition, Seq matched,
        Seq notMatched, Seq notMatchedBySource, Option migratedSchema, Set highWaterMarks, boolean evolves) {
        super(source, target, table, files, condition, matched, notMatched, notMatchedBySource, migratedSchema, highWaterMarks, evolves);
    }

    public String nodeName() {
        return "MergeIntoCommand";
    }

    public Expression generateFilterForModifiedRows() {
        Expression filter = super.generateFilterForModifiedRows();
        if (!joinsOuter) return filter;
        return new And(new IsNotNull(UnresolvedAttribute$.MODULE$.quoted(MergeIntoCommandBase$.MODULE$.TARGET_ROW_PRESENT_COL())), filter);
    }

    /** Marks rows with the same filter, of a join that has rows of the target alone, without the column of presence. */
    public Seq writeDVs(org.apache.spark.sql.SparkSession session, OptimisticTransaction transaction, Seq files) {
        joinsOuter = false;
        try {
            return super.writeDVs(session, transaction, files);
        } finally {
            joinsOuter = true;
        }
    }

    /** Gives every MERGE into a Delta table this class. `DeltaTable.merge` plans a command that no rule of analysis sees. */
    public static class Strategy extends SessionStrategy {
        SparkPlan planned(LogicalPlan plan) {
            if (plan.getClass() != MergeIntoCommand.class) return null;
            MergeIntoCommand merge = (MergeIntoCommand) plan;
            return new ExecutedCommandExec(new PresentTargetMerge(merge.source(), merge.target(), merge.catalogTable(),
                merge.targetFileIndex(), merge.condition(), merge.matchedClauses(), merge.notMatchedClauses(), merge.notMatchedBySourceClauses(),
                merge.migratedSchema(), merge.trackHighWaterMarks(), merge.schemaEvolutionEnabled()));
        }
    }
}
