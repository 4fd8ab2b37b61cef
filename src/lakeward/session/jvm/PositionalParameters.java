package lakeward;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.parser.PositionalParameterContext;
import org.apache.spark.sql.classic.SparkSession;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The parameters of `sql(text, list)` in the order of the list. Spark 4.2.0 passes them to the parser in the order of
 * a hash map, which differs from five parameters on: SELECT ?, ?, ?, ?, ? of 0 to 4 is 1, 4, 2, 3, 0.
 */
public class PositionalParameters {

    /** Of each number of parameters: their positions in the list, in the order in which Spark passes them. */
    private static final Map POSITIONS = new ConcurrentHashMap();

    /** Of this thread: the array that is filled with the positions of a probe. */
    private static final ThreadLocal PROBE = new ThreadLocal();

    /** Whether the statement is the probe of this thread; keeps the order of its parameters. */
    static boolean isProbe(PositionalParameterContext parameters) {
        int[] positions = (int[]) PROBE.get();
        if (positions == null) return false;
        for (int i = 0; i < positions.length; i++) {
            positions[i] = ((Integer) ((Literal) parameters.params().apply(i)).value()).intValue();
        }
        return true;
    }

    static PositionalParameterContext inOrder(SparkSession session, PositionalParameterContext parameters) {
        Seq passed = parameters.params();
        int[] positions = positions(session, passed.length());
        Object[] ordered = new Object[positions.length];
        for (int i = 0; i < positions.length; i++) ordered[positions[i]] = passed.apply(i);
        return new PositionalParameterContext(CollectionConverters.asScala(Arrays.asList(ordered)).toSeq());
    }

    private static int[] positions(SparkSession session, int number) {
        Integer key = Integer.valueOf(number);
        int[] known = (int[]) POSITIONS.get(key);
        if (known != null) return known;
        int[] positions = new int[number];
        Object[] numbers = new Object[number];
        for (int i = 0; i < number; i++) numbers[i] = Integer.valueOf(i);
        PROBE.set(positions);
        try {
            session.sql("SELECT ?", numbers);
        } finally {
            PROBE.remove();
        }
        POSITIONS.put(key, positions);
        return positions;
    }
}
