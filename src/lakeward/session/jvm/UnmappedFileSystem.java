package lakeward;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** Cloud storage without a mount and without a connector: each use is an error that says what to do. */
public class UnmappedFileSystem extends RawLocalFileSystem {

    public void initialize(URI uri, Configuration conf) throws IOException {
        throw error(uri.toString(), uri.getScheme() + "://" + uri.getAuthority());
    }

    static RuntimeException error(String path, String root) {
        ObjectNode error = WarehouseLayout.JSON.createObjectNode();
        error.put("condition", "STORAGE_NOT_MAPPED");
        error.put("sqlState", "58030");
        error.put("message", path + " cannot be used: this session has neither a local folder nor a connector for it. "
            + "Map a folder with `--mount " + root + "=FOLDER`, or under [tool.lakeward.mounts] in pyproject.toml; "
            + "or name the connector's package in spark.jars.packages.");
        return PythonSqlBridge.error(error);
    }
}
