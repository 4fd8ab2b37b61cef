package lakeward;

/**
 * The Python part of the SQL front end. Answers are JSON texts, so that each request is one gateway call; see
 * PythonSqlBridge for their form.
 */
public interface SqlRewriter {

    /** How to process a text that Spark does not parse; null leaves it to Spark. */
    String rewrite(String text, boolean isExpression);

    /** Substitute parameter markers by values (JSON: an object by name, or a list). */
    String fill(String text, String parameters);

    /** Run a command; returns a JSON text with its rows, a Dataset, or the Throwable to throw. */
    Object run(String command, Object session);
}
