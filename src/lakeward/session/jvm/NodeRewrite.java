package lakeward;

import scala.Function1;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;

/** A rewrite of the nodes of a plan, or of expressions, that `isDefinedAt` accepts; others stay unchanged. */
public abstract class NodeRewrite extends AbstractPartialFunction {

    abstract Object replacement(Object node);

    public Object applyOrElse(Object node, Function1 otherwise) {
        return isDefinedAt(node) ? replacement(node) : otherwise.apply(node);
    }

    // Without it Janino finds the bridge method of Scala's class, of another type, and refuses subclasses.
    public PartialFunction andThen(Function1 next) {
        return super.andThen(next);
    }
}
