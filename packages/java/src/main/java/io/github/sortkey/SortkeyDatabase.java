package io.github.sortkey;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A database of a server: every client of the AWS SDK with its endpoint sees it, whatever its access key. */
public final class SortkeyDatabase implements AutoCloseable {
    private final SortkeyServer server;
    private final String name;
    private final String path;

    SortkeyDatabase(SortkeyServer server, String name) {
        this.server = server;
        this.name = URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
        this.path = "/databases/" + this.name;
    }

    /** Returns the address for clients. */
    public URI endpoint() {
        return URI.create(server.endpoint() + "/" + name);
    }

    /** Returns the region for clients. */
    public String region() {
        return "us-east-1";
    }

    /** Returns an access key for clients, which the server does not check. */
    public String accessKey() {
        return "any";
    }

    /** Returns the secret for clients, which the server does not check. */
    public String secretKey() {
        return "any";
    }

    /** Makes a number of calls of an operation fail with an error of the service. */
    public Fault fail(String operation, String code, int times) {
        return fail(Map.of("Operation", operation, "Code", code, "Times", times));
    }

    /** Makes calls fail. The members are those of a fault in docs/testing.md; Delay is a Duration. */
    public Fault fail(Map<String, ?> fault) {
        Matcher id = Pattern.compile("\"id\":(\\d+)").matcher(server.control("POST", path + "/faults", json(fault)));
        if (!id.find()) {
            throw new IllegalStateException("the control did not say the number of the fault");
        }
        return new Fault(id.group(1));
    }

    /** Makes it later. What has expired is gone when this returns. */
    public void advance(Duration time) {
        server.control("POST", path + "/clock", json(Map.of("advance", time)));
    }

    /** Returns what requests have read and cost since the database was made, in JSON. */
    public String requests() {
        return server.control("GET", path + "/requests", "");
    }

    /** Makes this database a copy of another one as it is now. */
    public void restore(SortkeyDatabase other) {
        other.requests(); // so that there is one, if it had none yet
        server.control("PUT", path + "?from=" + other.name, "");
    }

    /** Drops the database: the next request gets a new copy of what the server has loaded. */
    @Override
    public void close() {
        server.control("DELETE", path, "");
    }

    /** Calls that fail, until lift or the end of the database. */
    public final class Fault {
        private final String id;

        private Fault(String id) {
            this.id = id;
        }

        /** Returns how many calls have failed; 0 after lift. */
        public int count() {
            String all = server.control("GET", path + "/faults", "");
            Matcher row = Pattern.compile("\"id\":" + id + ",\"calls\":\"(?:[^\"\\\\]|\\\\.)*\",\"count\":(\\d+)").matcher(all);
            return row.find() ? Integer.parseInt(row.group(1)) : 0;
        }

        /** Lets later calls pass. */
        public void lift() {
            server.control("DELETE", path + "/faults/" + id, "");
        }
    }

    /** Returns a value in JSON. */
    private static String json(Object value) {
        if (value instanceof Number || value instanceof Boolean) {
            return value.toString();
        }
        StringBuilder text = new StringBuilder();
        String separator = "";
        if (value instanceof Map) {
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                text.append(separator).append(json(member.getKey())).append(':').append(json(member.getValue()));
                separator = ",";
            }
            return "{" + text + "}";
        }
        if (value instanceof Collection) {
            for (Object element : (Collection<?>) value) {
                text.append(separator).append(json(element));
                separator = ",";
            }
            return "[" + text + "]";
        }
        if (value instanceof Duration) {
            return json(((Duration) value).toNanos() + "ns");
        }
        for (char c : value.toString().toCharArray()) {
            text.append(c == '"' || c == '\\' || c < ' ' ? String.format("\\u%04x", (int) c) : String.valueOf(c));
        }
        return '"' + text.toString() + '"';
    }
}
