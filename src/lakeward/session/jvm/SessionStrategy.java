package lakeward;

import java.util.Collections;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** A planner strategy that is injected once and applied in every session. */
public abstract class SessionStrategy extends AbstractFunction1 {

    /** What runs `plan`, null where the strategy does not apply. */
    abstract SparkPlan planned(LogicalPlan plan);

    public Object apply(Object session) {
        return new OfSession(this);
    }

    public static class OfSession extends SparkStrategy {
        private final SessionStrategy strategy;

        OfSession(SessionStrategy strategy) {
            this.strategy = strategy;
        }

        public Seq apply(LogicalPlan plan) {
            SparkPlan planned = strategy.planned(plan);
            return PythonUtils.toSeq(planned == null ? Collections.EMPTY_LIST : Collections.singletonList(planned));
        }
    }
}
