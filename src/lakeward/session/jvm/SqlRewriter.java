package lakeward;

/**
 * The Python half of the SQL front end. Answers are JSON texts, so that one call crosses the border
 * once; see Frontend for their form.
 */
public interface SqlRewriter {

    /** What to do with a text that Spark does not parse, or null when it is Spark's own business. */
    String rewrite(String text, boolean isExpression);

    /** A statement with its parameters' values (JSON: an object by name, or a list) in place of the markers. */
    String fill(String text, String parameters);

    /** Carry out a command: a JSON text with its rows, a Dataset, or the Throwable to be thrown. */
    Object run(String command, Object session);
}
