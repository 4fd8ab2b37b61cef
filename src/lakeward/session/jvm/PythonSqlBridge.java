package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.Collections;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.spark.ErrorClassesJsonReader;
import org.apache.spark.ErrorInfo;
import org.apache.spark.ErrorSubInfo;
import org.apache.spark.QueryContext;
import org.apache.spark.SparkThrowableHelper;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.trees.CurrentOrigin;
import scala.Option;
import scala.Some;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/**
 * Calls the Python part of the SQL front end. Its answers:
 * {"edits": [[start, stop, text] …]}, {"command": {"name" …}} or {"error": {"condition", "message" …}}.
 */
public class PythonSqlBridge {

    /** Conditions registered here: their template is their message. */
    private static final Set DECLARED = ConcurrentHashMap.newKeySet();
    /** The template of a condition that Spark does not know. */
    private static final Seq TEMPLATE = PythonUtils.toSeq(Collections.singletonList("<message>"));
    private static volatile Rewriter rewriter;
    private static volatile Pattern triggers;

    /** The Python part. Answers are JSON texts, so that each request is one gateway call. */
    public interface Rewriter {
        /** How to process a text that Spark does not parse; null leaves it to Spark. */
        String rewrite(String text, boolean isExpression);

        /** Substitute parameter markers by values (JSON: `named`, an object, and `positional`, a list). */
        String fill(String text, String parameters);

        /** Run a command; returns a JSON text with its rows, a Dataset, or the Throwable to throw. */
        Object run(String command, Object session);
    }

    /** `pattern` finds texts that Spark would parse with another meaning than the platform. */
    public static void use(Rewriter half, String pattern) {
        triggers = Pattern.compile(pattern, Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
        rewriter = half;
    }

    static boolean isTriggered(String text) {
        Pattern p = triggers;
        return p != null && p.matcher(withoutComments(text)).find();
    }

    /** The text with a blank in the place of each comment; comments in brackets nest. */
    static String withoutComments(String text) {
        if (text.indexOf("--") < 0 && text.indexOf("/*") < 0) return text;
        StringBuilder out = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            int end = at + 1;
            char first = text.charAt(at);
            if (first == '\'' || first == '"' || first == '`') {
                end = endOfQuote(text, at);
            } else if (text.startsWith("--", at)) {
                end = text.indexOf('\n', at);
                if (end < 0) end = text.length();
            } else if (text.startsWith("/*", at)) {
                end = endOfComment(text, at);
            }
            boolean isComment = end > at + 1 && (first == '-' || first == '/');
            out.append(isComment ? " " : text.substring(at, end));
            at = end;
        }
        return out.toString();
    }

    private static int endOfQuote(String text, int start) {
        char quote = text.charAt(start);
        int at = start + 1;
        while (at < text.length() && text.charAt(at) != quote) at += text.charAt(at) == '\\' && quote != '`' ? 2 : 1;
        return Math.min(at + 1, text.length());
    }

    private static int endOfComment(String text, int start) {
        int depth = 0;
        int at = start;
        do {
            if (text.startsWith("/*", at)) {
                depth++;
                at += 2;
            } else if (text.startsWith("*/", at)) {
                depth--;
                at += 2;
            } else {
                at++;
            }
        } while (depth > 0 && at < text.length());
        return Math.min(at, text.length());
    }

    /** The answer of the Python part; null without one, or if Python has ended: Spark's parser is used then. */
    static ObjectNode ask(String text, boolean isExpression) {
        Rewriter half = rewriter;
        if (half == null) return null;
        try {
            String answer = half.rewrite(text, isExpression);
            return answer == null ? null : (ObjectNode) WarehouseLayout.JSON.readTree(answer);
        } catch (RuntimeException e) {
            return null;
        } catch (IOException e) {
            return null;
        }
    }

    /** The text with values in the place of its parameter markers. */
    static String fill(String text, JsonNode parameters) {
        Rewriter half = rewriter;
        return half == null ? text : half.fill(text, parameters.toString());
    }

    /** The command of a statement with parameters; null if it is not one of ours. */
    static ObjectNode command(String text, JsonNode parameters) {
        Rewriter half = rewriter;
        if (half == null) return null;
        try {
            ObjectNode answer = ask(half.fill(text, parameters.toString()), false);
            return answer != null && answer.has("command") ? answer : null;
        } catch (RuntimeException e) {
            return null;
        }
    }

    static Object run(String command, Object session) {
        Rewriter half = rewriter;
        if (half == null) throw new IllegalStateException("The Python process that serves this command is gone");
        return half.run(command, session);
    }

    /**
     * Build an error as Spark does: a condition of Spark with its parameters and template. Unknown conditions are
     * registered, so that all error formatters support them.
     */
    static RuntimeException error(String condition, String sqlState, String message) {
        return error(WarehouseLayout.JSON.createObjectNode().put("condition", condition).put("sqlState", sqlState).put("message", message));
    }

    /**
     * An error with a condition of Spark's; `parameters` are name, value, name, value … Of a sub-condition that Spark lacks,
     * `message` is the text after the condition's own.
     */
    static RuntimeException error(String condition, String[] parameters) {
        ObjectNode error = WarehouseLayout.JSON.createObjectNode().put("condition", condition);
        ObjectNode named = error.putObject("parameters");
        for (int i = 0; i < parameters.length; i += 2) named.put(parameters[i], parameters[i + 1]);
        return error(error);
    }

    static RuntimeException error(JsonNode error) {
        String condition = error.get("condition").asText();
        if (condition.equals("PARSE_SYNTAX_ERROR") && error.hasNonNull("parameters")) {
            // Spark's own parser raises a subclass of AnalysisException.
            return WarehouseCatalog.sneak(new ParseException(ObjectDefinitions.none(), CurrentOrigin.get(), condition,
                ObjectDefinitions.scalaMap(error.get("parameters")), new QueryContext[0]));
        }
        if (error.hasNonNull("parameters") && isKnown(condition) && !DECLARED.contains(condition) && !needsPart(condition)) {
            return WarehouseCatalog.sneak(new AnalysisException(condition, ObjectDefinitions.scalaMap(error.get("parameters"))));
        }
        declare(condition, error.hasNonNull("sqlState") ? error.get("sqlState").asText() : "42000");
        String text = (error.hasNonNull("message") ? error : error.get("parameters")).get("message").asText();
        ObjectNode parameters = WarehouseLayout.JSON.createObjectNode();
        if (error.hasNonNull("parameters")) parameters.setAll((ObjectNode) error.get("parameters"));
        parameters.put("message", text);
        if (DECLARED.contains(condition) && hasAll(parameters, parameterNames(condition)) && !needsPart(condition)) {
            return WarehouseCatalog.sneak(new AnalysisException(condition, ObjectDefinitions.scalaMap(parameters)));
        }
        // Spark's template of a condition that it knows needs other parameters: the text replaces the whole message.
        String state = SparkThrowableHelper.getSqlState(condition);
        String shown = "[" + condition + "] " + text + (state == null || text.contains("SQLSTATE: ") ? "" : " SQLSTATE: " + state);
        // Without a value for each parameter, getMessage() of PySpark's exception fails.
        ObjectNode unknown = WarehouseLayout.JSON.createObjectNode();
        Seq names = parameterNames(condition);
        for (int i = 0; i < names.length(); i++) unknown.put((String) names.apply(i), "…");
        return WarehouseCatalog.sneak(new AnalysisException("INTERNAL_ERROR", ObjectDefinitions.scalaMap(parameters)).copy(
            shown, ObjectDefinitions.none(), ObjectDefinitions.none(), ObjectDefinitions.none(), new Some(condition),
            ObjectDefinitions.scalaMap(unknown), new QueryContext[0]));
    }

    /** A condition that was declared with its own text may have got parts since: Spark then has no message without one. */
    private static boolean needsPart(String condition) {
        if (condition.indexOf('.') >= 0) return false;
        Option known = SparkThrowableHelper.errorReader().errorInfoMap().get(condition);
        return known.isDefined() && ((ErrorInfo) known.get()).subClass().isDefined();
    }

    private static boolean hasAll(ObjectNode parameters, Seq names) {
        for (int i = 0; i < names.length(); i++) if (!parameters.has((String) names.apply(i))) return false;
        return true;
    }

    private static Seq parameterNames(String condition) {
        if (needsPart(condition)) return PythonUtils.toSeq(Collections.emptyList());
        try {
            return SparkThrowableHelper.errorReader().getMessageParameters(condition);
        } catch (AssertionError needsPart) {
            // Spark's templates are those of the parts of such a condition, as INVALID_PARAMETER_VALUE.EXTENSION.
            return PythonUtils.toSeq(Collections.emptyList());
        } catch (NoSuchElementException unknown) {
            return PythonUtils.toSeq(Collections.emptyList());
        }
    }

    private static synchronized void declare(String condition, String state) {
        if (isKnown(condition)) return;
        try {
            Field field = conditions();
            Map known = (Map) field.get(SparkThrowableHelper.errorReader());
            int dot = condition.indexOf('.');
            String main = dot < 0 ? condition : condition.substring(0, dot);
            Option before = known.get(main);
            // Spark's own errors of such a condition have no part.
            if (before.isDefined() && ((ErrorInfo) before.get()).subClass().isEmpty() && !DECLARED.contains(main)) return;
            // The condition's template precedes that of its sub-condition: Spark's stays, since its other sub-conditions
            // need it; after one of ours the sub-condition adds nothing.
            boolean isNew = before.isEmpty() || TEMPLATE.equals(((ErrorInfo) before.get()).message());
            Seq text = isNew ? TEMPLATE : ((ErrorInfo) before.get()).message();
            Option code = isNew ? new Some(state) : ((ErrorInfo) before.get()).sqlState();
            Seq added = isNew ? PythonUtils.toSeq(Collections.singletonList("")) : TEMPLATE;
            Map below = dot < 0 ? null
                : (Map) subconditions(before).updated(condition.substring(dot + 1), new ErrorSubInfo(added, ObjectDefinitions.none()));
            ErrorInfo own = new ErrorInfo(text, below == null ? ObjectDefinitions.none() : new Some(below), code, ObjectDefinitions.none());
            field.set(SparkThrowableHelper.errorReader(), known.updated(main, own));
            DECLARED.add(condition);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This Spark keeps its error conditions elsewhere than 4.2 does", e);
        }
    }

    private static Field conditions() throws ReflectiveOperationException {
        Field field = ErrorClassesJsonReader.class.getDeclaredField("errorInfoMap");
        field.setAccessible(true);
        return field;
    }

    /**
     * Give Spark's conditions that are numbers (_LEGACY_ERROR_TEMP_…) an SQLSTATE. A script looks for the handler of an error
     * by it, and without one failed with a NullPointerException instead of the error.
     */
    static synchronized void completeStates() {
        try {
            Field field = conditions();
            Map known = (Map) field.get(SparkThrowableHelper.errorReader());
            Iterator all = known.iterator();
            while (all.hasNext()) {
                Tuple2 named = (Tuple2) all.next();
                ErrorInfo info = (ErrorInfo) named._2();
                if (info.sqlState().isDefined()) continue;
                known = (Map) known.updated(named._1(), info.copy(info.message(), info.subClass(), new Some("42000"), info.breakingChangeInfo()));
            }
            field.set(SparkThrowableHelper.errorReader(), known);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This Spark keeps its error conditions elsewhere than 4.2 does", e);
        }
    }

    /** Spark's own look-up fails for a sub-condition of a condition without sub-conditions. */
    private static boolean isKnown(String condition) {
        try {
            return SparkThrowableHelper.isValidErrorClass(condition);
        } catch (NoSuchElementException e) {
            return false;
        }
    }

    private static Map subconditions(Option known) {
        Option below = known.isDefined() ? ((ErrorInfo) known.get()).subClass() : ObjectDefinitions.none();
        return below.isDefined() ? (Map) below.get() : PythonUtils.toScalaMap(Collections.emptyMap());
    }
}
