package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Field;
import java.util.IdentityHashMap;
import org.apache.spark.QueryContext;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.Option;
import scala.Product;
import scala.Some;
import scala.collection.Iterable;
import scala.collection.Iterator;

/** A rewritten text, and the way back from its positions to those of the text that the user wrote. */
public class SqlPositions {

    private final String original;
    final String text;
    private final int[] starts;
    private final int[] stops;
    private final int[] lengths;

    /** `edits`: [[start, stop, replacement] …] in the order of the text, none overlapping another. */
    SqlPositions(String original, JsonNode edits) {
        this.original = original;
        starts = new int[edits.size()];
        stops = new int[edits.size()];
        lengths = new int[edits.size()];
        StringBuilder out = new StringBuilder();
        int from = 0;
        for (int i = 0; i < edits.size(); i++) {
            JsonNode edit = (JsonNode) edits.get(i);
            starts[i] = ((JsonNode) edit.get(0)).asInt();
            stops[i] = ((JsonNode) edit.get(1)).asInt();
            String replacement = ((JsonNode) edit.get(2)).asText();
            lengths[i] = replacement.length();
            out.append(original, from, starts[i]).append(replacement);
            from = stops[i];
        }
        text = out.append(original, from, original.length()).toString();
    }

    /** The place in the user's text; what stands in a replacement is where the replaced text began. */
    int back(int index) {
        int shift = 0;
        for (int i = 0; i < starts.length; i++) {
            int start = starts[i] + shift;
            if (index < start) break;
            if (index < start + lengths[i]) return Math.min(starts[i] + Math.min(index - start, Math.max(stops[i] - starts[i] - 1, 0)), original.length());
            shift += lengths[i] - (stops[i] - starts[i]);
        }
        return Math.max(0, Math.min(index - shift, original.length()));
    }

    private Origin back(Origin o) {
        Option line = o.line();
        Option column = o.startPosition();
        if (line.isDefined() && column.isDefined()) {
            int place = back(index(text, ((Integer) line.get()).intValue(), ((Integer) column.get()).intValue()));
            int begin = original.lastIndexOf('\n', place - 1) + 1;
            int number = 1;
            for (int i = 0; i < begin; i++) {
                if (original.charAt(i) == '\n') number++;
            }
            line = new Some(Integer.valueOf(number));
            column = new Some(Integer.valueOf(place - begin));
        }
        return new Origin(line, column, back(o.startIndex()), back(o.stopIndex()),
            o.sqlText().isDefined() ? new Some(original) : o.sqlText(), o.objectType(), o.objectName(), o.stackTrace(),
            o.pysparkErrorContext(), o.positionMapper());
    }

    private Option back(Option index) {
        return index.isDefined() ? new Some(Integer.valueOf(back(((Integer) index.get()).intValue()))) : index;
    }

    private static int index(String text, int line, int column) {
        int begin = 0;
        for (int i = 1; i < line; i++) {
            int next = text.indexOf('\n', begin);
            if (next < 0) break;
            begin = next + 1;
        }
        return begin + column;
    }

    /** The same exception, as if the user's text had been parsed. */
    ParseException restore(ParseException e) {
        ParseException out = new ParseException(new Some(original), back(e.start()), e.getCondition(), e.messageParameters(), new QueryContext[0]);
        out.setStackTrace(e.getStackTrace());
        return out;
    }

    /** Give every node below `root` the place in the user's text; errors of the analysis name it. */
    void restore(Object root) {
        try {
            Field field = TreeNode.class.getDeclaredField("origin");
            field.setAccessible(true);
            restore(root, field, new IdentityHashMap());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This Spark keeps positions elsewhere than 4.2 does", e);
        }
    }

    private void restore(Object node, Field field, IdentityHashMap seen) throws ReflectiveOperationException {
        if (node instanceof TreeNode) {
            if (seen.put(node, node) != null) return;
            field.set(node, back(((TreeNode) node).origin()));
        }
        Iterator parts = null;
        if (node instanceof Iterable) {
            parts = ((Iterable) node).iterator();
        } else if (node instanceof Product) {
            parts = ((Product) node).productIterator();
        }
        while (parts != null && parts.hasNext()) restore(parts.next(), field, seen);
    }
}
