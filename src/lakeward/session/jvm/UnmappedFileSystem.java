package lakeward;

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
        return PythonSqlBridge.error("STORAGE_NOT_MAPPED", "58030", path + " cannot be used: this session has neither a local folder nor a "
            + "connector for it. Map a folder with `--mount " + root + "=FOLDER`, or under [tool.lakeward.mounts] in pyproject.toml; "
            + "or name the connector's package in spark.jars.packages.");
    }

    /** A write into a volume that does not exist; the texts are those of volume_folders.py. */
    static RuntimeException noVolume(String[] names) {
        String path = "/Volumes";
        String name = "";
        String plain = "";
        for (int i = 0; i < names.length && i < 3; i++) {
            path += "/" + names[i];
            name += (i == 0 ? "`" : ".`") + names[i] + "`";
            plain += (i == 0 ? "" : ".") + names[i];
        }
        boolean whole = names.length >= 3;
        return PythonSqlBridge.error("UC_VOLUME_NOT_FOUND", "42704", (whole
            ? "Volume " + name + " does not exist. Please use 'SHOW VOLUMES' to list available volumes."
            : "No volume is below " + path + ": files are written into volumes that exist.")
            + " `CREATE VOLUME " + (whole ? plain : "catalog.schema.name") + "` creates " + (whole ? "it" : "one")
            + "; `--mount " + path + (whole ? "" : "/…") + "=FOLDER`, or [tool.lakeward.mounts] in pyproject.toml, gives it"
            + " the files of a local folder.");
    }
}
