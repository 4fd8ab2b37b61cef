package lakeward;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.V2Aggregator;
import org.apache.spark.sql.connector.catalog.functions.AggregateFunction;
import org.apache.spark.util.Utils;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** The call of an aggregate of this package, named in results as it is written. */
public class AggregateCall extends V2Aggregator {

    /** An aggregate that says which types its arguments may have. */
    public interface Function extends AggregateFunction {
        /** The types to which the arguments are cast, or that Spark refuses others than. */
        Seq accepted(Seq arguments);
    }

    /** Spark copies expressions by the constructor with these arguments. */
    public AggregateCall(AggregateFunction function, Seq children, int mutableAggBufferOffset, int inputAggBufferOffset) {
        super(function, children, mutableAggBufferOffset, inputAggBufferOffset);
    }

    public Seq inputTypes() {
        return ((Function) aggrFunc()).accepted(children());
    }

    public String prettyName() {
        return aggrFunc().name();
    }

    /** As Spark does, with the class loader that has the class of the state. */
    public Serializable deserialize(byte[] bytes) {
        return (Serializable) Utils.deserialize(bytes, AggregateCall.class.getClassLoader());
    }

    public V2Aggregator withNewMutableAggBufferOffset(int offset) {
        return new AggregateCall(aggrFunc(), children(), offset, inputAggBufferOffset());
    }

    public V2Aggregator withNewInputAggBufferOffset(int offset) {
        return new AggregateCall(aggrFunc(), children(), mutableAggBufferOffset(), offset);
    }

    public Expression withNewChildrenInternal(IndexedSeq children) {
        return new AggregateCall(aggrFunc(), children, mutableAggBufferOffset(), inputAggBufferOffset());
    }
}
