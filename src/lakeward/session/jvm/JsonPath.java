package lakeward;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.json.GetJsonObjectEvaluator;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * `column:path` on a JSON string: get_json_object, but for the names of fields. Those in brackets are
 * met as they are written, the others in any case.
 */
public class JsonPath {

    private static final JsonFactory JSON = new JsonFactory();
    private static final ThreadLocal PATHS = new ThreadLocal();

    private final GetJsonObjectEvaluator exact;
    private final List steps;
    private final boolean isExact;

    private JsonPath(UTF8String path) {
        exact = new GetJsonObjectEvaluator(path);
        steps = steps(path.toString());
        boolean bare = false;
        for (int i = 0; i < steps.size(); i++) bare |= ((String) steps.get(i)).startsWith(".");
        isExact = !bare;
    }

    /** Called by the generated code of every row. */
    public static UTF8String get(UTF8String json, UTF8String path) {
        HashMap known = (HashMap) PATHS.get();
        if (known == null) PATHS.set(known = new HashMap());
        JsonPath p = (JsonPath) known.get(path);
        if (p == null) {
            if (known.size() > 1000) known.clear();
            UTF8String own = path.clone();
            known.put(own, p = new JsonPath(own));
        }
        return p.get(json);
    }

    private UTF8String get(UTF8String json) {
        exact.setJson(json);
        UTF8String found = (UTF8String) exact.evaluate();
        if (found != null || isExact) return found;
        String there = spelling(json);
        if (there == null) return null;
        GetJsonObjectEvaluator once = new GetJsonObjectEvaluator(UTF8String.fromString(there));
        once.setJson(json);
        return (UTF8String) once.evaluate();
    }

    /** The path with the names as the document spells them; null when they are not there, or spelled alike. */
    private String spelling(UTF8String json) {
        try {
            JsonParser parser = JSON.createParser(json.getBytes());
            try {
                StringBuilder out = new StringBuilder("$");
                parser.nextToken();
                return spell(parser, 0, out) ? out.toString() : null;
            } finally {
                parser.close();
            }
        } catch (IOException e) {
            return null;
        }
    }

    private boolean spell(JsonParser parser, int at, StringBuilder out) throws IOException {
        if (at == steps.size()) return true;
        String step = (String) steps.get(at);
        String inside = step.substring(1);
        if (step.charAt(0) == '[') {
            if (parser.currentToken() != JsonToken.START_ARRAY) return false;
            out.append('[').append(inside).append(']');
            int skip = inside.equals("*") ? 0 : Integer.parseInt(inside);
            for (JsonToken t = parser.nextToken(); t != JsonToken.END_ARRAY && t != null; t = parser.nextToken()) {
                if (skip-- == 0) return spell(parser, at + 1, out);
                parser.skipChildren();
            }
            return false;
        }
        if (parser.currentToken() != JsonToken.START_OBJECT) return false;
        boolean bare = step.charAt(0) == '.';
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.getText();
            parser.nextToken();
            if (bare ? name.equalsIgnoreCase(inside) : name.equals(inside)) {
                out.append("['").append(name).append("']");
                return spell(parser, at + 1, out);
            }
            parser.skipChildren();
        }
        return false;
    }

    /** ".name" a bare name, "'name" one in brackets, "[0" an index, "[*" all elements. */
    private static List steps(String path) {
        List out = new ArrayList();
        int i = 1;
        while (i < path.length()) {
            if (path.startsWith("['", i)) {
                int end = path.indexOf("']", i + 2);
                if (end < 0) end = path.length();
                out.add("'" + path.substring(i + 2, end));
                i = end + 2;
            } else if (path.charAt(i) == '[') {
                int end = path.indexOf(']', i);
                if (end < 0) end = path.length();
                out.add("[" + path.substring(i + 1, end).trim());
                i = end + 1;
            } else {
                int end = i + 1;
                while (end < path.length() && path.charAt(end) != '.' && path.charAt(end) != '[') end++;
                out.add("." + path.substring(i + 1, end));
                i = end;
            }
        }
        return out;
    }
}
