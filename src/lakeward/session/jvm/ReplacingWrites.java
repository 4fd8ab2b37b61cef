package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;

/**
 * INSERT … REPLACE USING and REPLACE ON run as a MERGE (sql/constructs/inserts.py). The history of the table shows the
 * write of the platform, with the metrics of one.
 */
final class ReplacingWrites {

    /** The column by which that MERGE tells the rows of the query from those that it replaces. */
    private static final String MARK = "__lakeward_comes";
    private static final String[][] METRICS = {
        {"numFiles", "numTargetFilesAdded"}, {"numOutputBytes", "numTargetBytesAdded"}, {"numOutputRows", "numTargetRowsInserted"},
        {"numRemovedFiles", "numTargetFilesRemoved"}, {"numRemovedBytes", "numTargetBytesRemoved"}};

    private ReplacingWrites() {}

    /** Return the action "commitInfo" as the platform writes it. */
    static String named(String action) throws IOException {
        if (action.indexOf(MARK) < 0) return action;
        ObjectNode whole = (ObjectNode) WarehouseLayout.JSON.readTree(action);
        ObjectNode information = (ObjectNode) whole.get("commitInfo");
        if (!"MERGE".equals(information.path("operation").asText())) return action;
        information.put("operation", "WRITE");
        ObjectNode parameters = WarehouseLayout.JSON.createObjectNode();
        parameters.put("mode", "Overwrite");
        parameters.put("partitionBy", "[]");
        information.set("operationParameters", parameters);
        JsonNode measured = information.path("operationMetrics");
        ObjectNode metrics = WarehouseLayout.JSON.createObjectNode();
        for (int i = 0; i < METRICS.length; i++) {
            if (measured.has(METRICS[i][1])) metrics.set(METRICS[i][0], measured.get(METRICS[i][1]));
        }
        information.set("operationMetrics", metrics);
        return WarehouseLayout.JSON.writeValueAsString(whole);
    }
}
