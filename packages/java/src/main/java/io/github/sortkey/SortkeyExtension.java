package io.github.sortkey;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Gives tests a database that is emptied after each, in a parameter of type {@link SortkeyDatabase} or without one:
 *
 * <pre>{@code
 * @ExtendWith(SortkeyExtension.class)
 * class OrdersTest {
 *     @Test
 *     void put(SortkeyDatabase db) { … }
 * }
 * }</pre>
 *
 * <p>Before the class is initialised, system properties point every client of DynamoDB that is made without an endpoint
 * at it, so that none reaches an account; keys and a region are set where there are none. A parameter of a test that
 * JUnit runs at the same time as others is a database of its own.
 *
 * <p>The configuration parameters sortkey.load and sortkey.args, in junit-platform.properties, name what each database
 * begins with and further arguments of sortkey serve, separated by commas.
 */
public final class SortkeyExtension implements BeforeAllCallback, AfterEachCallback, ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(SortkeyExtension.class);

    /** The server of all tests of this process. JUnit closes it at the end of the run. */
    private static final class Running implements Store.CloseableResource {
        final SortkeyServer server;
        final SortkeyDatabase database;

        Running(ExtensionContext context) {
            try {
                server = new SortkeyServer(list(context, "sortkey.load"), list(context, "sortkey.args"));
            } catch (IOException e) {
                throw new UncheckedIOException(e.getMessage(), e);
            }
            database = server.database("tests");
            System.setProperty("aws.endpointUrlDynamoDb", database.endpoint().toString());
            System.setProperty("aws.endpointUrlDynamoDbStreams", database.endpoint().toString());
            boolean files = Files.exists(Path.of(System.getProperty("user.home", ""), ".aws"));
            set(files || System.getenv("AWS_ACCESS_KEY_ID") != null || System.getenv("AWS_PROFILE") != null,
                "aws.accessKeyId", database.accessKey(), "aws.secretAccessKey", database.secretKey());
            set(files || System.getenv("AWS_REGION") != null, "aws.region", database.region());
        }

        private static void set(boolean there, String... properties) {
            for (int i = 0; i < properties.length && !there; i += 2) {
                if (System.getProperty(properties[i]) == null) {
                    System.setProperty(properties[i], properties[i + 1]);
                }
            }
        }

        private static List<String> list(ExtensionContext context, String name) {
            String text = context.getConfigurationParameter(name).orElse("");
            return Stream.of(text.split(",")).map(String::trim).filter(part -> !part.isEmpty()).collect(Collectors.toList());
        }

        @Override
        public void close() {
            server.close();
        }
    }

    /** The database of a test that runs at the same time as others. */
    private static final class Own implements Store.CloseableResource {
        final SortkeyDatabase database;

        Own(SortkeyServer server) {
            database = server.database();
        }

        @Override
        public void close() {
            database.close();
        }
    }

    private static Running running(ExtensionContext context) {
        return context.getRoot().getStore(NAMESPACE)
            .getOrComputeIfAbsent(Running.class, key -> new Running(context), Running.class);
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        running(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (context.getExecutionMode() == ExecutionMode.SAME_THREAD) {
            running(context).database.close();
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == SortkeyDatabase.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Running running = running(context);
        if (context.getExecutionMode() == ExecutionMode.SAME_THREAD) {
            return running.database;
        }
        return context.getStore(NAMESPACE)
            .getOrComputeIfAbsent(context.getUniqueId(), key -> new Own(running.server), Own.class).database;
    }
}
