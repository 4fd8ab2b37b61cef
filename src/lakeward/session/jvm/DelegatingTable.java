package lakeward;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;

/** A table in place of another one, which describes itself as that one does. */
public abstract class DelegatingTable implements Table {

    final Table described;

    DelegatingTable(Table described) {
        this.described = described;
    }

    public String name() {
        return described.name();
    }

    public StructType schema() {
        return described.schema();
    }

    public Transform[] partitioning() {
        return described.partitioning();
    }

    public Map properties() {
        return described.properties();
    }

    public Set capabilities() {
        return described.capabilities();
    }
}
