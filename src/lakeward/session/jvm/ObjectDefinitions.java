package lakeward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.BucketSpec;
import org.apache.spark.sql.catalyst.catalog.CatalogFunction;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.catalog.FunctionResource;
import org.apache.spark.sql.catalyst.catalog.FunctionResourceType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Seq;

/** Spark's catalog entries as JSON, and back. */
public class ObjectDefinitions {

    static ObjectNode toJson(CatalogTable t) {
        ObjectNode json = WarehouseLayout.JSON.createObjectNode();
        json.put("type", t.tableType().name());
        text(json, "provider", t.provider());
        if (t.storage().locationUri().isDefined()) json.put("location", kept((URI) t.storage().locationUri().get()));
        text(json, "inputFormat", t.storage().inputFormat());
        text(json, "outputFormat", t.storage().outputFormat());
        text(json, "serde", t.storage().serde());
        json.set("options", map(t.storage().properties()));
        json.put("schema", t.schema().json());
        json.set("partitionColumns", list(t.partitionColumnNames()));
        if (t.bucketSpec().isDefined()) {
            BucketSpec b = (BucketSpec) t.bucketSpec().get();
            json.put("buckets", b.numBuckets());
            json.set("bucketColumns", list(b.bucketColumnNames()));
            json.set("sortColumns", list(b.sortColumnNames()));
        }
        json.put("owner", t.owner());
        json.put("createTime", t.createTime());
        json.set("properties", map(t.properties()));
        text(json, "viewText", t.viewText());
        text(json, "viewOriginalText", t.viewOriginalText());
        text(json, "comment", t.comment());
        text(json, "collation", t.collation());
        return json;
    }

    /** The location of a table or schema in the form that is kept. */
    static String kept(URI location) {
        return LakehouseSettings.paths(new PathMap("")).kept(location).toString();
    }

    static CatalogTable table(String database, String name, ObjectNode json) {
        Option buckets = !json.has("buckets") ? none()
            : new Some(new BucketSpec(json.get("buckets").asInt(), seq(json.get("bucketColumns")), seq(json.get("sortColumns"))));
        Option location = json.has("location") ? new Some(URI.create(json.get("location").asText())) : none();
        CatalogStorageFormat storage = new CatalogStorageFormat(location, option(json, "inputFormat"),
            option(json, "outputFormat"), option(json, "serde"), false, scalaMap(json.get("options")), none());
        return entry(database, name, new CatalogTableType(json.get("type").asText()), storage,
            (StructType) DataType.fromJson(json.get("schema").asText()), option(json, "provider"),
            seq(json.get("partitionColumns")), buckets, json.get("owner").asText(), json.get("createTime").asLong(),
            scalaMap(json.get("properties")), option(json, "viewText"), option(json, "comment"),
            option(json, "viewOriginalText"), option(json, "collation"));
    }

    /** A managed Delta table needs no file of its own: its log says everything but where it is. */
    static CatalogTable delta(String database, String name, URI location, long created) {
        CatalogStorageFormat storage = new CatalogStorageFormat(new Some(location), none(), none(), none(), false,
            scalaMap(null), none());
        return entry(database, name, CatalogTableType.MANAGED(), storage, new StructType(), new Some("delta"), seq(null), none(),
            "", created, scalaMap(null), none(), none(), none(), none());
    }

    private static CatalogTable entry(String database, String name, CatalogTableType type, CatalogStorageFormat storage,
            StructType schema, Option provider, Seq partitions, Option buckets, String owner, long created,
            scala.collection.immutable.Map properties, Option viewText, Option comment, Option original, Option collation) {
        TableIdentifier id = new TableIdentifier(name, new Some(database), new Some(IdentifierCodec.SESSION));
        return new CatalogTable(id, type, storage, schema, provider, partitions, buckets, owner, created, -1L,
            org.apache.spark.package$.MODULE$.SPARK_VERSION(), properties, none(), viewText, comment, collation, seq(null), false, true,
            scalaMap(null), original, none());
    }

    static ObjectNode toJson(CatalogFunction f) {
        ObjectNode json = WarehouseLayout.JSON.createObjectNode();
        json.put("className", f.className());
        ArrayNode resources = json.putArray("resources");
        Iterator it = scala.jdk.javaapi.CollectionConverters.asJava(f.resources()).iterator();
        while (it.hasNext()) {
            FunctionResource r = (FunctionResource) it.next();
            ObjectNode one = resources.addObject();
            one.put("type", r.resourceType().resourceType());
            one.put("uri", r.uri());
        }
        return json;
    }

    static CatalogFunction function(String database, String name, ObjectNode json) {
        List resources = new ArrayList();
        Iterator it = json.get("resources").elements();
        while (it.hasNext()) {
            JsonNode one = (JsonNode) it.next();
            resources.add(new FunctionResource(FunctionResourceType.fromString(one.get("type").asText()), one.get("uri").asText()));
        }
        FunctionIdentifier id = new FunctionIdentifier(name, new Some(database), new Some(IdentifierCodec.SESSION));
        return new CatalogFunction(id, json.get("className").asText(), PythonUtils.toSeq(resources));
    }

    static Option none() {
        return Option.apply(null);
    }

    static Option option(ObjectNode json, String field) {
        return json.hasNonNull(field) ? new Some(json.get(field).asText()) : none();
    }

    static void text(ObjectNode json, String field, Option value) {
        if (value.isDefined()) json.put(field, (String) value.get());
    }

    static ObjectNode map(scala.collection.immutable.Map values) {
        return (ObjectNode) WarehouseLayout.JSON.valueToTree(scala.jdk.javaapi.CollectionConverters.asJava(values));
    }

    static ArrayNode list(Seq values) {
        return (ArrayNode) WarehouseLayout.JSON.valueToTree(new ArrayList(scala.jdk.javaapi.CollectionConverters.asJava(values)));
    }

    static Map javaMap(JsonNode json) {
        Map out = new HashMap();
        if (json != null) {
            Iterator it = json.fieldNames();
            while (it.hasNext()) {
                String field = (String) it.next();
                out.put(field, ((JsonNode) json.get(field)).asText());
            }
        }
        return out;
    }

    static scala.collection.immutable.Map scalaMap(JsonNode json) {
        return PythonUtils.toScalaMap(javaMap(json));
    }

    static Seq seq(JsonNode json) {
        List out = new ArrayList();
        for (int i = 0; json != null && i < json.size(); i++) out.add(((JsonNode) json.get(i)).asText());
        return PythonUtils.toSeq(out);
    }
}
