package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collections;
import java.util.Map;
import org.apache.spark.QueryContext;
import org.apache.spark.SparkRuntimeException;
import org.apache.spark.SparkThrowableHelper;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** The error that SIGNAL raises: with a condition of the script's own, or a SQLSTATE of its own. */
public class Signal extends SparkRuntimeException {

    /** The function that SIGNAL becomes (sql/constructs/scripting.py): condition, SQLSTATE, message. */
    public static final String CALL = "lakeward_signal";

    private final String condition;
    private final String state;
    private final String text;

    Signal(String condition, String state, String text) {
        super("USER_RAISED_EXCEPTION", ObjectDefinitions.scalaMap(WarehouseLayout.JSON.createObjectNode().put("errorMessage", text)),
            null, new QueryContext[0], (Option) ObjectDefinitions.none());
        this.condition = condition;
        this.state = state;
        this.text = text;
    }

    public String getCondition() {
        return condition;
    }

    public String getErrorClass() {
        return condition;
    }

    public String getSqlState() {
        return state;
    }

    public String getMessage() {
        return "[" + condition + "] " + text + " SQLSTATE: " + state;
    }

    /** GET DIAGNOSTICS gives these: of a condition that a script declares, the text alone. */
    public Map getMessageParameters() {
        return Collections.singletonMap(condition.equals("USER_RAISED_EXCEPTION") ? "errorMessage" : "MESSAGE_TEXT", text);
    }

    /** Called for the SELECT that SIGNAL becomes. The SQLSTATE of a condition that the script does not declare is empty. */
    public static UTF8String raise(UTF8String condition, UTF8String state, UTF8String text) {
        String name = condition.toString();
        if (state.numBytes() == 0) requireCondition(name);
        throw new Signal(name, state.numBytes() == 0 ? SparkThrowableHelper.getSqlState(name) : state.toString(),
            text == null ? "" : text.toString());
    }

    private static void requireCondition(String name) {
        if (SparkThrowableHelper.isValidErrorClass(name)) return;
        throw new Signal("INVALID_HANDLER_DECLARATION.CONDITION_NOT_FOUND", "42K0Q", "Condition " + name + " not found. Declare it in the"
            + " script (DECLARE " + name + " CONDITION), or name a condition of Spark.");
    }

    /** As `raise`, for a condition of Spark, whose message has arguments. Those without a value keep their name. */
    public static UTF8String raiseCondition(UTF8String condition, MapData arguments) {
        requireCondition(condition.toString());
        ObjectNode values = WarehouseLayout.JSON.createObjectNode();
        Seq names = SparkThrowableHelper.getMessageParameters(condition.toString());
        for (int i = 0; i < names.length(); i++) values.put(names.apply(i).toString(), "<" + names.apply(i) + ">");
        for (int i = 0; i < arguments.numElements(); i++) {
            values.put(arguments.keyArray().getUTF8String(i).toString(), String.valueOf(arguments.valueArray().getUTF8String(i)));
        }
        throw new SparkRuntimeException(condition.toString(), ObjectDefinitions.scalaMap(values), null, new QueryContext[0],
            (Option) ObjectDefinitions.none());
    }

    /** The function's builder: of condition, SQLSTATE and message, or of condition and arguments. */
    public static class Builder extends AbstractFunction1 {
        private static final AbstractFunction1 OWN = new SqlFunctions.StaticMethod(Signal.class, "raise", DataTypes.StringType,
            new DataType[] {DataTypes.StringType, DataTypes.StringType, DataTypes.StringType});
        private static final AbstractFunction1 OF_SPARK = new SqlFunctions.StaticMethod(Signal.class, "raiseCondition", DataTypes.StringType,
            new DataType[] {DataTypes.StringType, new MapType(DataTypes.StringType, DataTypes.StringType, true)});

        public Object apply(Object arguments) {
            return (((Seq) arguments).length() == 2 ? OF_SPARK : OWN).apply(arguments);
        }
    }
}
