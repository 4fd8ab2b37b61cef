package lakeward;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import java.util.ArrayList;
import java.util.List;
import org.locationtech.jts.geom.CoordinateSequence;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.LinearRing;

/** Reads a geometry in GeoJSON; its positions have two or three numbers, and all equally many. */
public class GeoJsonReader {

    private static final String CONDITION = "GEOJSON_PARSE_ERROR";
    private static final int DEFAULT_SRID = 4326;
    private static final ObjectReader JSON = WarehouseLayout.JSON.reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private int dimension = 0;

    private GeoJsonReader() {
    }

    static GeoValue read(String text, boolean isGeography) {
        JsonNode document;
        try {
            document = JSON.readTree(text);
        } catch (JsonProcessingException e) {
            int column = e.getLocation() == null ? 1 : Math.max(1, e.getLocation().getColumnNr());
            throw GeoErrors.parse(CONDITION, "Invalid JSON", column);
        }
        GeoJsonReader reader = new GeoJsonReader();
        Geometry shape = reader.geometry(document);
        return new GeoValue(shape, reader.dimension == 3, false, DEFAULT_SRID, isGeography);
    }

    private static Signal error(String problem) {
        return GeoErrors.parse(CONDITION, problem, 1);
    }

    private Geometry geometry(JsonNode object) {
        JsonNode declared = (JsonNode) object.path("type");
        if (!object.isObject() || !declared.isTextual()) throw error("Expected an object with a type");
        String type = declared.asText();
        for (int kind = 1; kind < GeoValue.NAMES.length; kind++) {
            if (!GeoValue.NAMES[kind].equals(type)) continue;
            boolean collection = kind == GeoValue.COLLECTION;
            return shape(kind, array((JsonNode) object.path(collection ? "geometries" : "coordinates")));
        }
        throw error("Unknown type '" + type + "'");
    }

    private static JsonNode array(JsonNode node) {
        if (!node.isArray()) throw error("Expected an array");
        return node;
    }

    private Geometry shape(int kind, JsonNode content) {
        if (kind == GeoValue.POINT) {
            List all = new ArrayList();
            if (content.size() > 0) all.add(position(content));
            return GeoValue.FACTORY.createPoint(sequence(all));
        }
        if (kind == GeoValue.LINESTRING) {
            List all = positions(content);
            if (all.size() == 1) throw error("Too few points in linestring");
            return GeoValue.FACTORY.createLineString(sequence(all));
        }
        if (kind == GeoValue.POLYGON) {
            LinearRing[] rings = new LinearRing[content.size()];
            for (int i = 0; i < rings.length; i++) {
                CoordinateSequence ring = sequence(positions(array((JsonNode) content.get(i))));
                String problem = GeoBinaryReader.ringProblem(ring);
                if (problem != null) throw error(problem);
                rings[i] = GeoValue.FACTORY.createLinearRing(ring);
            }
            return GeoBinaryReader.polygon(rings, dimension == 3, false);
        }
        Geometry[] parts = new Geometry[content.size()];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = kind == GeoValue.COLLECTION ? geometry((JsonNode) content.get(i)) : shape(kind - 3, array((JsonNode) content.get(i)));
        }
        return GeoBinaryReader.collection(kind, parts);
    }

    private List positions(JsonNode content) {
        List all = new ArrayList();
        for (int i = 0; i < content.size(); i++) all.add(position(array((JsonNode) content.get(i))));
        return all;
    }

    private double[] position(JsonNode numbers) {
        int n = numbers.size();
        if (n < 2 || n > 3) throw error("Expected two or three coordinates");
        if (dimension != 0 && dimension != n) throw error("Positions have different dimensions");
        dimension = n;
        double[] out = new double[n];
        for (int k = 0; k < n; k++) {
            JsonNode number = (JsonNode) numbers.get(k);
            if (!number.isNumber()) throw error("Expected a number");
            out[k] = number.asDouble();
        }
        return out;
    }

    private CoordinateSequence sequence(List all) {
        CoordinateSequence out = GeoBinaryReader.sequence(all.size(), dimension == 3, false);
        for (int i = 0; i < all.size(); i++) {
            double[] one = (double[]) all.get(i);
            for (int k = 0; k < one.length; k++) out.setOrdinate(i, k, one[k]);
        }
        return out;
    }
}
