package io.github.sortkey;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** Finds the command sortkey: a resource of the jar for this platform, which is unpacked once. */
final class Binary {
    private Binary() {}

    /** Returns the path of the command. The system property or environment variable below names another one. */
    static Path find() throws IOException {
        String chosen = System.getProperty("sortkey.binary", System.getenv("SORTKEY_BINARY"));
        if (chosen != null) {
            if (!Files.isRegularFile(Path.of(chosen))) {
                throw new IOException("sortkey.binary is " + chosen + ", which is not a file: name the command sortkey");
            }
            return Path.of(chosen);
        }

        String platform = platform();
        String name = platform.startsWith("windows") ? "sortkey.exe" : "sortkey";
        String folder = "/io/github/sortkey/" + platform + "/";
        try (InputStream binary = Binary.class.getResourceAsStream(folder + name);
                InputStream sum = Binary.class.getResourceAsStream(folder + "SHA256")) {
            if (binary == null || sum == null) {
                throw new IOException("no jar on the class path has sortkey for " + platform
                    + ": add io.github.sortkey:sortkey-junit with the classifier " + platform
                    + ", or set sortkey.binary to a command that you have built");
            }
            String[] words = new String(sum.readAllBytes()).trim().split("\\s+");
            return unpack(binary, words[0], Long.parseLong(words[1]), name);
        }
    }

    static String platform() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        String system = os.startsWith("windows") ? "windows" : os.startsWith("mac") ? "darwin" : "linux";
        return system + "-" + (arch.equals("aarch64") || arch.equals("arm64") ? "arm64" : "amd64");
    }

    /** Returns the folder for what is unpacked: that of the user, or one of this process if there is none. */
    private static Path cache() throws IOException {
        String home = System.getProperty("user.home", "");
        if (!home.isEmpty() && Files.isWritable(Path.of(home)) && Path.of(home).isAbsolute()) {
            return Path.of(home, ".cache", "sortkey");
        }
        Path folder = Files.createTempDirectory("sortkey");
        folder.toFile().deleteOnExit();
        return folder;
    }

    /** Takes the rights of others, who must not change what this user runs. */
    private static void onlyOwner(Path path) {
        path.toFile().setWritable(false, false);
        path.toFile().setWritable(true, true);
    }

    /** Unpacks the command to a folder that is named by its checksum, unless it is there. */
    private static Path unpack(InputStream binary, String sum, long size, String name) throws IOException {
        Path cache = cache().resolve(sum);
        Path command = cache.resolve(name);
        if (Files.isExecutable(command) && Files.size(command) == size) {
            return command;
        }
        Files.createDirectories(cache);
        onlyOwner(cache);
        Path temporary = Files.createTempFile(cache, "unpacked", "");
        try {
            Files.copy(binary, temporary, StandardCopyOption.REPLACE_EXISTING);
            onlyOwner(temporary);
            if (!temporary.toFile().setExecutable(true, true)) {
                throw new IOException("cannot make " + temporary + " executable: set sortkey.binary to an installed command");
            }
            try {
                Files.move(temporary, command, StandardCopyOption.ATOMIC_MOVE);
            } catch (AtomicMoveNotSupportedException e) {
                Files.move(temporary, command, StandardCopyOption.REPLACE_EXISTING);
            }
        } finally {
            Files.deleteIfExists(temporary);
        }
        return command;
    }
}
