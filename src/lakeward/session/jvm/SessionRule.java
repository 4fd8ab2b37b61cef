package lakeward;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import scala.runtime.AbstractFunction1;

/** A rule that is injected once and applied in every session. */
public abstract class SessionRule extends AbstractFunction1 {

    /** The plan that replaces `plan` in the session: `plan` itself where the rule does not apply. */
    abstract TreeNode rewritten(LogicalPlan plan, SparkSession session);

    public Object apply(Object session) {
        return new OfSession(this, (SparkSession) session);
    }

    public static class OfSession extends Rule {
        private final SessionRule rule;
        private final SparkSession session;

        OfSession(SessionRule rule, SparkSession session) {
            this.rule = rule;
            this.session = session;
        }

        public TreeNode apply(TreeNode plan) {
            return rule.rewritten((LogicalPlan) plan, session);
        }

        public String ruleName() {
            return rule.getClass().getName();
        }
    }
}
