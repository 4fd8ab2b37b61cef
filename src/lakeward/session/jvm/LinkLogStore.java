package lakeward;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.UUID;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Delta commits that no second process can overwrite: the whole file is written aside and then linked
 * under its name, which the kernel refuses when the name is taken. Delta's own LocalLogStore checks
 * first and renames later, and lost one commit in twenty when two processes met.
 */
public class LinkLogStore extends HadoopFileSystemLogStore {

    private static final Pattern COMMIT = Pattern.compile("\\d{20}\\.json");

    public LinkLogStore(Configuration conf) {
        super(conf);
    }

    public void write(Path path, Iterator lines, Boolean overwrite, Configuration conf) throws IOException {
        File target = ((LocalFileSystem) path.getFileSystem(conf)).pathToFile(path);
        File folder = target.getParentFile();
        if (!folder.isDirectory()) throw new java.io.FileNotFoundException("No such file or directory: " + path.getParent());
        String information = null;
        java.nio.file.Path aside = new File(folder, "." + target.getName() + "." + UUID.randomUUID() + ".tmp").toPath();
        try {
            BufferedWriter writer = Files.newBufferedWriter(aside, StandardCharsets.UTF_8, new OpenOption[0]);
            try {
                while (lines.hasNext()) {
                    String line = (String) lines.next();
                    if (line.startsWith("{\"commitInfo\"")) information = line = ReplacingWrites.named(line);
                    writer.write(line);
                    writer.write("\n");
                }
            } finally {
                writer.close();
            }
            if (overwrite.booleanValue()) {
                Files.move(aside, target.toPath(), new CopyOption[] {StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING});
            } else {
                link(aside, target, path);
            }
        } finally {
            Files.deleteIfExists(aside);
        }
        if (information != null && COMMIT.matcher(target.getName()).matches()) InsertedRows.committed(path, information);
    }

    private void link(java.nio.file.Path aside, File target, Path path) throws IOException {
        try {
            Files.createLink(target.toPath(), aside);
        } catch (java.nio.file.FileAlreadyExistsException taken) {
            throw new java.nio.file.FileAlreadyExistsException(path.toString());
        } catch (UnsupportedOperationException e) {
            throw new IOException("The file system of " + target.getParent() + " has no hard links, so commits there are not"
                + " safe against a second process. Keep the state folder (LAKEWARD_HOME) on a disk that has them.", e);
        }
    }

    /**
     * Delta lists a log for each read of its table. This costs one system call a file, and none for files before `path`;
     * `FileSystem.listStatus` maps the path of each file several times.
     *
     * An empty commit is damage: its rows are lost, and Delta would read it as a commit without rows. Commits are
     * linked when they are complete, so no writer leaves one behind.
     */
    public Iterator listFrom(Path path, Configuration conf) throws IOException {
        LocalFileSystem system = (LocalFileSystem) path.getFileSystem(conf);
        Path folder = system.makeQualified(path.getParent());
        File local = system.pathToFile(folder);
        String[] names = local.list();
        if (names == null) return super.listFrom(path, conf);
        Arrays.sort(names);
        int first = Arrays.binarySearch(names, path.getName());
        ArrayList found = new ArrayList();
        for (int i = first < 0 ? -first - 1 : first; i < names.length; i++) {
            BasicFileAttributes about;
            try {
                about = Files.readAttributes(new File(local, names[i]).toPath(), BasicFileAttributes.class, new LinkOption[0]);
            } catch (NoSuchFileException removed) {
                continue;
            }
            Path file = new Path(folder, names[i]);
            if (about.size() == 0 && about.isRegularFile() && COMMIT.matcher(names[i]).matches()) {
                throw new IOException(file + " is damaged: a commit is never empty. Restore it from a backup;"
                    + " if it is the last one, delete it, and the table is as before this commit.");
            }
            found.add(new FileStatus(about.size(), about.isDirectory(), 1, 0, about.lastModifiedTime().toMillis(), file));
        }
        return found.iterator();
    }

    public Boolean isPartialWriteVisible(Path path, Configuration conf) {
        return Boolean.FALSE;
    }
}
