package lakeward;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.locationtech.jts.geom.CoordinateSequence;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.LinearRing;

/** Reads WKT and EWKT, which is WKT after `SRID=number;`. Coordinates have the dimension that the text declares. */
public class GeoTextReader {

    private final String text;
    private final String condition;
    private int at = 0;
    private boolean z;
    private boolean m;

    GeoTextReader(String text, String condition) {
        this.text = text;
        this.condition = condition;
    }

    static boolean isExtended(String text) {
        return text.trim().regionMatches(true, 0, "SRID", 0, 4);
    }

    GeoValue read(int srid, boolean isGeography) {
        Geometry shape = tagged(false);
        skip();
        if (at < text.length()) throw error("Unexpected text after the geometry");
        return new GeoValue(shape, z, m, srid, isGeography);
    }

    /** With the SRID of the text; `otherwise` if it contains none. */
    GeoValue readExtended(int otherwise, boolean isGeography) {
        if (!isExtended(text)) return read(otherwise, isGeography);
        word();
        need('=');
        int end = text.indexOf(';', at);
        if (end < 0) throw error("Expected ';'");
        int srid;
        try {
            srid = Integer.parseInt(text.substring(at, end).trim());
        } catch (NumberFormatException e) {
            throw error("Invalid SRID");
        }
        at = end + 1;
        return read(srid, isGeography);
    }

    private Signal error(String problem) {
        return GeoErrors.parse(condition, problem, at + 1);
    }

    private void skip() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
    }

    /** Whether this character is next; it is then taken. */
    private boolean take(char c) {
        skip();
        boolean there = at < text.length() && text.charAt(at) == c;
        if (there) at++;
        return there;
    }

    private void need(char c) {
        if (!take(c)) throw error("Expected '" + c + "'");
    }

    private String word() {
        skip();
        int start = at;
        while (at < text.length() && Character.isLetter(text.charAt(at))) at++;
        return text.substring(start, at).toUpperCase(Locale.ROOT);
    }

    private boolean takeEmpty() {
        int start = at;
        if (word().equals("EMPTY")) return true;
        at = start;
        return false;
    }

    private Geometry tagged(boolean nested) {
        String word = word();
        int kind = 0;
        String dimension = "";
        for (int i = 1; i < GeoValue.NAMES.length; i++) {
            String name = GeoValue.NAMES[i].toUpperCase(Locale.ROOT);
            String rest = word.startsWith(name) ? word.substring(name.length()) : "?";
            if (rest.equals("") || rest.equals("Z") || rest.equals("M") || rest.equals("ZM")) {
                kind = i;
                dimension = rest;
            }
        }
        if (kind == 0) throw error("Expected the type of a geometry");
        if (dimension.equals("")) dimension = separateDimension();
        boolean hasZ = dimension.startsWith("Z");
        boolean hasM = dimension.endsWith("M");
        if (nested && (hasZ != z || hasM != m)) throw error("Invalid dimension in a collection");
        z = hasZ;
        m = hasM;
        return body(kind);
    }

    private String separateDimension() {
        int start = at;
        String word = word();
        if (word.equals("Z") || word.equals("M") || word.equals("ZM")) return word;
        at = start;
        return "";
    }

    private Geometry body(int kind) {
        if (kind == GeoValue.POINT) return GeoValue.FACTORY.createPoint(points(1, 1));
        if (kind == GeoValue.LINESTRING) return line();
        if (kind == GeoValue.POLYGON) return polygon();
        List parts = new ArrayList();
        if (!takeEmpty()) {
            need('(');
            do {
                parts.add(part(kind));
            } while (take(','));
            need(')');
        }
        return GeoBinaryReader.collection(kind, (Geometry[]) parts.toArray(new Geometry[parts.size()]));
    }

    private Geometry part(int kind) {
        if (kind == GeoValue.COLLECTION) return tagged(true);
        if (kind == 5) return line();
        if (kind == 6) return polygon();
        skip();
        // The points of a multipoint may lack their parentheses.
        boolean bare = at < text.length() && text.charAt(at) != '(' && !Character.isLetter(text.charAt(at));
        return GeoValue.FACTORY.createPoint(bare ? sequence(coordinates(new ArrayList())) : points(1, 1));
    }

    private Geometry line() {
        return GeoValue.FACTORY.createLineString(points(2, Integer.MAX_VALUE));
    }

    private Geometry polygon() {
        List rings = new ArrayList();
        if (!takeEmpty()) {
            need('(');
            do {
                CoordinateSequence ring = points(0, Integer.MAX_VALUE);
                String problem = GeoBinaryReader.ringProblem(ring);
                if (problem != null) throw error(problem);
                rings.add(GeoValue.FACTORY.createLinearRing(ring));
            } while (take(','));
            need(')');
        }
        return GeoBinaryReader.polygon((LinearRing[]) rings.toArray(new LinearRing[rings.size()]), z, m);
    }

    /** The points in parentheses, or none for EMPTY. */
    private CoordinateSequence points(int least, int most) {
        if (takeEmpty()) return GeoBinaryReader.sequence(0, z, m);
        List all = new ArrayList();
        need('(');
        do {
            coordinates(all);
        } while (take(','));
        need(')');
        int n = all.size() / (2 + (z ? 1 : 0) + (m ? 1 : 0));
        if (n < least) throw error("Too few points in linestring");
        if (n > most) throw error("Expected ')'");
        return sequence(all);
    }

    private CoordinateSequence sequence(List all) {
        int dimension = 2 + (z ? 1 : 0) + (m ? 1 : 0);
        CoordinateSequence out = GeoBinaryReader.sequence(all.size() / dimension, z, m);
        for (int i = 0; i < all.size(); i++) out.setOrdinate(i / dimension, i % dimension, ((Double) all.get(i)).doubleValue());
        return out;
    }

    private List coordinates(List all) {
        int dimension = 2 + (z ? 1 : 0) + (m ? 1 : 0);
        for (int k = 0; k < dimension; k++) all.add(number());
        return all;
    }

    private Double number() {
        skip();
        int start = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) at++;
        try {
            Double value = Double.valueOf(text.substring(start, at));
            if (!value.isInfinite()) return value;
        } catch (NumberFormatException e) {
            // Reported below, at the place where the number begins.
        }
        at = start;
        throw error("Expected a number");
    }
}
