package io.github.sortkey;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test that has a parameter of type {@link SortkeyDatabase} a database of its own:
 *
 * <pre>{@code
 * @ExtendWith(SortkeyExtension.class)
 * class OrdersTest {
 *     @Test
 *     void put(SortkeyDatabase db) { … }
 * }
 * }</pre>
 *
 * <p>The configuration parameters sortkey.load and sortkey.args, in junit-platform.properties, name what each database
 * begins with and further arguments of sortkey serve, separated by commas.
 */
public final class SortkeyExtension implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(SortkeyExtension.class);

    /** The server of all tests of this process. JUnit closes it at the end of the run. */
    private static final class Running implements Store.CloseableResource {
        final SortkeyServer server;

        Running(ExtensionContext context) {
            try {
                server = new SortkeyServer(list(context, "sortkey.load"), list(context, "sortkey.args"));
            } catch (IOException e) {
                throw new UncheckedIOException(e.getMessage(), e);
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

    /** The database of one test. */
    private static final class Current implements Store.CloseableResource {
        final SortkeyDatabase database;

        Current(SortkeyServer server) {
            database = server.database();
        }

        @Override
        public void close() {
            database.close();
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == SortkeyDatabase.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        SortkeyServer server = context.getRoot().getStore(NAMESPACE)
            .getOrComputeIfAbsent(Running.class, key -> new Running(context), Running.class).server;
        // By the context's id: that of a test would otherwise find what its class has got for @BeforeAll.
        return context.getStore(NAMESPACE)
            .getOrComputeIfAbsent(context.getUniqueId(), key -> new Current(server), Current.class).database;
    }
}
