package lakeward;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.ui.SQLAppStatusStore;
import org.apache.spark.sql.execution.ui.SQLExecutionUIData;
import org.apache.spark.sql.execution.ui.SQLPlanMetric;
import org.apache.spark.sql.execution.ui.SparkPlanGraphCluster;
import org.apache.spark.sql.execution.ui.SparkPlanGraphNode;
import org.apache.spark.status.AppStatusStore;
import scala.Option;
import scala.collection.Iterator;

/**
 * The operators that took the most time in the queries with a job tag, from the status store that Spark keeps
 * in memory. Names of operators only: their descriptions contain the literals of the query.
 */
public class OperatorTimes {

    private static final long WAIT_MILLISECONDS = 500;

    /** The `most` slowest operators of the queries whose tag begins with `prefix`, the slowest first, as JSON. */
    public static String slowest(SparkSession session, String prefix, int most) {
        try {
            session.sparkContext().listenerBus().waitUntilEmpty(WAIT_MILLISECONDS);
        } catch (Exception busy) {
            // The metrics of the last query may be missing.
        }
        SQLAppStatusStore store = session.sharedState().statusStore();
        Map found = new LinkedHashMap();
        Iterator executions = store.executionsList().iterator();
        while (executions.hasNext()) {
            SQLExecutionUIData execution = (SQLExecutionUIData) executions.next();
            String tag = tag(session.sparkContext().statusStore(), execution, prefix);
            if (tag != null) add(found, store, execution.executionId(), tag);
        }
        List operators = new ArrayList(found.values());
        Collections.sort(operators, new Comparator() {
            public int compare(Object one, Object other) {
                return Long.compare(((ObjectNode) other).get("milliseconds").asLong(), ((ObjectNode) one).get("milliseconds").asLong());
            }
        });
        ArrayNode slowest = WarehouseLayout.JSON.createArrayNode();
        for (int i = 0; i < operators.size() && i < most; i++) slowest.add((ObjectNode) operators.get(i));
        return slowest.toString();
    }

    /** Queries have no tags; their jobs have. A query without jobs has no operator that took time. */
    private static String tag(AppStatusStore jobs, SQLExecutionUIData execution, String prefix) {
        Iterator ids = execution.jobs().keysIterator();
        while (ids.hasNext()) {
            try {
                Iterator tags = jobs.job(((Integer) ids.next()).intValue()).jobTags().iterator();
                while (tags.hasNext()) {
                    String each = (String) tags.next();
                    if (each.startsWith(prefix)) return each;
                }
            } catch (NoSuchElementException evicted) {
                continue;
            }
        }
        return null;
    }

    private static void add(Map found, SQLAppStatusStore store, long execution, String tag) {
        scala.collection.immutable.Map metrics;
        Iterator nodes;
        try {
            metrics = store.executionMetrics(execution);
            nodes = store.planGraph(execution).nodes().iterator();
        } catch (NoSuchElementException evicted) {
            return;
        }
        while (nodes.hasNext()) {
            SparkPlanGraphNode node = (SparkPlanGraphNode) nodes.next();
            Map figures = new HashMap();
            String name = ShownNames.shown(name(node));
            times(figures, node, metrics);
            counts(figures, node, metrics);
            if (node instanceof SparkPlanGraphCluster) {
                Iterator inside = ((SparkPlanGraphCluster) node).nodes().iterator();
                while (inside.hasNext()) counts(figures, (SparkPlanGraphNode) inside.next(), metrics);
            }
            Long milliseconds = (Long) figures.get("milliseconds");
            if (milliseconds == null || milliseconds.longValue() == 0) continue;
            String key = tag + " " + node.id() + " " + name;
            ObjectNode operator = (ObjectNode) found.get(key);
            if (operator == null) {
                operator = WarehouseLayout.JSON.createObjectNode();
                operator.put("tag", tag);
                operator.put("operator", name);
                operator.put("queries", 0);
                found.put(key, operator);
            }
            operator.put("queries", operator.get("queries").asInt() + 1);
            java.util.Iterator each = figures.entrySet().iterator();
            while (each.hasNext()) {
                Map.Entry figure = (Map.Entry) each.next();
                String of = (String) figure.getKey();
                long before = operator.has(of) ? operator.get(of).asLong() : 0;
                operator.put(of, before + ((Long) figure.getValue()).longValue());
            }
        }
    }

    private static String name(SparkPlanGraphNode node) {
        if (!(node instanceof SparkPlanGraphCluster)) return node.name();
        List names = new ArrayList();
        Iterator inside = ((SparkPlanGraphCluster) node).nodes().iterator();
        while (inside.hasNext()) names.add(((SparkPlanGraphNode) inside.next()).name());
        return names.isEmpty() ? node.name() : String.join(", ", names);
    }

    /** The time of a stage of generated code includes those of its operators. */
    private static void times(Map figures, SparkPlanGraphNode node, scala.collection.immutable.Map metrics) {
        Iterator each = node.metrics().iterator();
        while (each.hasNext()) {
            SQLPlanMetric metric = (SQLPlanMetric) each.next();
            String value = value(metric, metrics);
            String kind = metric.metricType();
            if (value != null && (kind.equals("timing") || kind.equals("nsTiming"))) sum(figures, "milliseconds", milliseconds(value));
        }
    }

    private static void counts(Map figures, SparkPlanGraphNode node, scala.collection.immutable.Map metrics) {
        Iterator each = node.metrics().iterator();
        while (each.hasNext()) {
            SQLPlanMetric metric = (SQLPlanMetric) each.next();
            String value = value(metric, metrics);
            if (value == null || !metric.metricType().equals("size")) continue;
            if (metric.name().startsWith("spill")) sum(figures, "spilled_bytes", bytes(value));
            if (metric.name().equals("shuffle bytes written")) sum(figures, "shuffled_bytes", bytes(value));
            if (metric.name().equals("size of files read")) sum(figures, "read_bytes", bytes(value));
        }
        rows(figures, node, metrics);
    }

    /** Of the operators of a stage of generated code the first that counts rows is the last that runs. */
    private static void rows(Map figures, SparkPlanGraphNode node, scala.collection.immutable.Map metrics) {
        Iterator each = node.metrics().iterator();
        while (each.hasNext() && !figures.containsKey("rows")) {
            SQLPlanMetric metric = (SQLPlanMetric) each.next();
            String value = metric.name().equals("number of output rows") ? value(metric, metrics) : null;
            if (value != null) sum(figures, "rows", Math.round(number(value.replace(",", ""))));
        }
    }

    private static String value(SQLPlanMetric metric, scala.collection.immutable.Map metrics) {
        Option value = metrics.get(Long.valueOf(metric.accumulatorId()));
        return value.isDefined() ? first((String) value.get()) : null;
    }

    private static void sum(Map figures, String name, long value) {
        Long before = (Long) figures.get(name);
        figures.put(name, Long.valueOf(value + (before == null ? 0 : before.longValue())));
    }

    /** Spark writes "1.2 s", or below a heading the total and in parentheses least, median and most of the tasks. */
    private static String first(String text) {
        String last = text.substring(text.lastIndexOf('\n') + 1);
        int more = last.indexOf(" (");
        return (more < 0 ? last : last.substring(0, more)).trim();
    }

    private static long milliseconds(String value) {
        String[] parts = value.split(" ");
        String unit = parts.length < 2 ? "" : parts[1];
        double scale = unit.equals("s") ? 1000 : unit.equals("m") ? 60000 : unit.equals("h") ? 3600000 : 1;
        return Math.round(number(parts[0]) * scale);
    }

    private static long bytes(String value) {
        String[] parts = value.split(" ");
        double scale = 1;
        String[] units = {"KiB", "MiB", "GiB", "TiB", "PiB"};
        for (int i = 0; parts.length > 1 && i < units.length; i++) {
            if (parts[1].equals(units[i])) scale = Math.pow(1024, i + 1);
        }
        return Math.round(number(parts[0]) * scale);
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text.replace(",", ""));
        } catch (NumberFormatException other) {
            return 0;
        }
    }
}
