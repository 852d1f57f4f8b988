package io.github.sortkey;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server with databases in memory, each at an address of its own. Access keys do not matter. It ends with this
 * process, however that ends.
 */
public final class SortkeyServer implements AutoCloseable {
    private static final Pattern URL = Pattern.compile("AWS_ENDPOINT_URL_DYNAMODB=(\\S+)");
    private static final Pattern ERROR = Pattern.compile("\"error\":\"((?:[^\"\\\\]|\\\\.)*)\"");
    private static final Pattern CONTROL = Pattern.compile("control at (\\S+) ");

    private final HttpClient http = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).build();
    private final StringBuffer said = new StringBuffer();
    private final Process process;
    private final String token;
    private final URI endpoint;
    private final String control;

    /**
     * Starts a server.
     *
     * @param load models, templates, request files, folders of those and exports: what each database begins with
     * @param arguments further arguments of sortkey serve, such as --enforce-throughput
     */
    public SortkeyServer(List<String> load, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
            Binary.find().toString(), "serve", "--addr", "127.0.0.1:0", "--isolate=path", "--control", "--until-eof"));
        for (String what : load) {
            command.add("--load");
            command.add(what);
        }
        command.addAll(arguments);

        byte[] random = new byte[16];
        new SecureRandom().nextBytes(random);
        StringBuilder hex = new StringBuilder();
        for (byte b : random) {
            hex.append(String.format("%02x", b));
        }
        token = hex.toString();
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("SORTKEY_CONTROL_TOKEN", token);
        process = builder.start(); // its standard input is a pipe, and it ends with that
        Thread errors = drain(process.getErrorStream(), said);

        BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String url = null;
        String controlled = null;
        for (String line; (url == null || controlled == null) && (line = out.readLine()) != null;) {
            Matcher found = URL.matcher(line);
            if (found.find()) {
                url = found.group(1);
            }
            found = CONTROL.matcher(line);
            if (found.find()) {
                controlled = found.group(1);
            }
        }
        if (url == null || controlled == null) {
            close();
            try {
                errors.join(5000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            String why = said.toString().trim();
            throw new IOException("the server did not start: "
                + (why.isEmpty() ? "it ended with code " + process.exitValue() : why));
        }
        endpoint = URI.create(url);
        control = controlled;
        drain(process.getInputStream(), null);
    }

    private static Thread drain(InputStream in, StringBuffer into) {
        Thread reader = new Thread(() -> {
            try (in) {
                byte[] part = new byte[4096];
                for (int n; (n = in.read(part)) >= 0;) {
                    if (into != null && into.length() < 65_536) {
                        into.append(new String(part, 0, n, StandardCharsets.UTF_8));
                    }
                }
            } catch (IOException e) {
                // the server has ended
            }
        }, "sortkey");
        reader.setDaemon(true);
        reader.start();
        return reader;
    }

    /** Returns the address for clients. */
    public URI endpoint() {
        return endpoint;
    }

    /** Returns a database of its own. */
    public SortkeyDatabase database() {
        return database("test-" + UUID.randomUUID());
    }

    /** Returns the database of a name. */
    public SortkeyDatabase database(String name) {
        return new SortkeyDatabase(this, name);
    }

    /** Sends a request of docs/testing-languages.md to the control, and returns its answer. */
    public String control(String method, String path, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(control + path))
            .header("Authorization", "Bearer " + token)
            .method(method, BodyPublishers.ofString(body))
            .build();
        try {
            HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                Matcher error = ERROR.matcher(answer.body());
                throw new IllegalArgumentException(error.find()
                    ? error.group(1).replace("\\\"", "\"").replace("\\\\", "\\") : answer.body().trim());
            }
            return answer.body();
        } catch (IOException e) {
            throw new IllegalStateException("the server has ended: " + said.toString().trim(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Ends the server with its databases. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(15, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
