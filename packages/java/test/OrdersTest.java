import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sortkey.SortkeyDatabase;
import io.github.sortkey.SortkeyExtension;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

@ExtendWith(SortkeyExtension.class)
class OrdersTest {
    static final DynamoDbClient EARLY = DynamoDbClient.create(); // as most classes make it
    static final DynamoDbClient IN_CODE = DynamoDbClient.builder()
        .region(Region.EU_WEST_1)
        .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("code", "x")))
        .build();

    static DynamoDbClient client(SortkeyDatabase db) {
        DynamoDbClient client = DynamoDbClient.builder()
            .endpointOverride(db.endpoint())
            .region(Region.of(db.region()))
            .credentialsProvider(StaticCredentialsProvider.create(
                AwsBasicCredentials.create(db.accessKey(), db.secretKey())))
            .build();
        client.createTable(t -> t.tableName("Orders").billingMode(BillingMode.PAY_PER_REQUEST)
            .attributeDefinitions(a -> a.attributeName("id").attributeType(ScalarAttributeType.S))
            .keySchema(k -> k.attributeName("id").keyType(KeyType.HASH)));
        return client;
    }

    @RepeatedTest(3)
    void eachBeginsAnew(SortkeyDatabase db) {
        assertEquals(0, EARLY.listTables().tableNames().size());
        for (DynamoDbClient client : List.of(client(db), EARLY, IN_CODE)) {
            assertEquals(1, client.listTables().tableNames().size());
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void besideOthers(SortkeyDatabase db) {
        assertNotEquals(System.getProperty("aws.endpointUrlDynamoDb"), db.endpoint().toString());
    }

    @Test
    void faults(SortkeyDatabase db) {
        DynamoDbClient client = client(db);
        SortkeyDatabase.Fault fault = db.fail("PutItem", "ThrottlingException", 1);
        client.putItem(p -> p.tableName("Orders").item(Map.of("id", AttributeValue.fromS("1")))); // tried again
        assertEquals(1, fault.count());
        fault.lift();
        assertEquals(0, fault.count());
        db.fail(Map.of("Operation", "Scan", "Delay", Duration.ofMillis(50)));
        assertThrows(IllegalArgumentException.class, () -> db.fail("PutIte", "ThrottlingException", 1));
    }

    @Test
    void clock(SortkeyDatabase db) {
        DynamoDbClient client = client(db);
        client.updateTimeToLive(u -> u.tableName("Orders")
            .timeToLiveSpecification(s -> s.enabled(true).attributeName("until")));
        String until = String.valueOf(Instant.now().getEpochSecond() + 3600);
        client.putItem(p -> p.tableName("Orders").item(
            Map.of("id", AttributeValue.fromS("1"), "until", AttributeValue.fromN(until))));
        assertEquals(1, client.scan(s -> s.tableName("Orders")).count());
        db.advance(Duration.ofMinutes(61));
        assertEquals(0, client.scan(s -> s.tableName("Orders")).count());
        assertTrue(db.requests().contains("\"operation\":\"Scan\""));
    }
}
