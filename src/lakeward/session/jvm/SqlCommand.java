package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.ResolvedProcedure;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.plans.logical.Call;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.ProcedureCatalog;
import org.apache.spark.sql.connector.catalog.procedures.BoundProcedure;
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter;
import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;

/** A statement that Python runs; for Spark it is a procedure call. */
public class SqlCommand implements BoundProcedure, ProcedureCatalog {

    private final ObjectNode command;

    private SqlCommand(ObjectNode command) {
        this.command = command;
    }

    static LogicalPlan plan(ObjectNode command) {
        SqlCommand procedure = new SqlCommand(command);
        Identifier name = Identifier.of(new String[0], procedure.name());
        return new Call(new ResolvedProcedure(procedure, name, procedure), ObjectDefinitions.seq(null), true);
    }

    public String name() {
        return command.get("name").asText();
    }

    public String description() {
        return name();
    }

    public boolean isDeterministic() {
        return false;
    }

    public ProcedureParameter[] parameters() {
        return new ProcedureParameter[0];
    }

    public Iterator call(InternalRow arguments) {
        return run();
    }

    private Iterator run() {
        Object result = PythonSqlBridge.run(command.toString(), org.apache.spark.sql.SparkSession.active());
        if (result instanceof Throwable) throw WarehouseCatalog.sneak((Throwable) result);
        if (result instanceof Dataset) {
            Dataset rows = (Dataset) result;
            return results(rows.schema(), rows.queryExecution().executedPlan().executeCollect());
        }
        try {
            JsonNode json = WarehouseLayout.JSON.readTree((String) result);
            if (json.has("error")) throw PythonSqlBridge.error(json.get("error"));
            if (!json.has("schema")) return Collections.emptyList().iterator();
            StructType schema = StructType.fromDDL(json.get("schema").asText());
            return results(schema, rows(json.get("rows")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Iterator results(StructType schema, InternalRow[] rows) {
        RowCounts.returned((SparkSession) org.apache.spark.sql.SparkSession.active(), schema, rows);
        return Collections.singletonList(new Rows(schema, rows)).iterator();
    }

    private static InternalRow[] rows(JsonNode json) {
        InternalRow[] out = new InternalRow[json.size()];
        for (int r = 0; r < out.length; r++) {
            JsonNode row = (JsonNode) json.get(r);
            Object[] values = new Object[row.size()];
            for (int c = 0; c < values.length; c++) values[c] = value((JsonNode) row.get(c));
            out[r] = new GenericInternalRow(values);
        }
        return out;
    }

    /** Strings, booleans and BIGINTs: the result types of commands. */
    private static Object value(JsonNode json) {
        if (json.isNull()) return null;
        if (json.isBoolean()) return Boolean.valueOf(json.asBoolean());
        if (json.isIntegralNumber()) return Long.valueOf(json.asLong());
        return UTF8String.fromString(json.asText());
    }

    public static class Rows implements LocalScan {
        private final StructType schema;
        private final InternalRow[] rows;

        Rows(StructType schema, InternalRow[] rows) {
            this.schema = schema;
            this.rows = rows;
        }

        public StructType readSchema() {
            return schema;
        }

        public InternalRow[] rows() {
            return rows;
        }
    }

    // ---- the catalog that Spark requires for a procedure

    public void initialize(String name, CaseInsensitiveStringMap options) {
    }

    public UnboundProcedure loadProcedure(Identifier name) {
        throw new UnsupportedOperationException();
    }

    public Identifier[] listProcedures(String[] namespace) {
        return new Identifier[0];
    }
}
