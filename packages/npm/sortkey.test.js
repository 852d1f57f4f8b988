// What check-packages.sh runs with the package.
const { DynamoDB } = require("@aws-sdk/client-dynamodb");
const { connect, startServer } = require("sortkey");
const { sortkey } = require("sortkey/test");

const key = {
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
};

const early = new DynamoDB(); // as a module makes it when it is loaded
const inCode = new DynamoDB({ region: "eu-west-1", credentials: { accessKeyId: "code", secretAccessKey: "x" } });

for (const n of [1, 2, 3]) {
  test(`each test begins anew, whatever the client ${n}`, async () => {
    expect((await early.listTables()).TableNames).toEqual(["Loaded"]);
    await inCode.createTable({ TableName: "Own", ...key });
    for (const db of [early, inCode, new DynamoDB(), new DynamoDB(sortkey.config)]) {
      expect((await db.listTables()).TableNames).toEqual(["Loaded", "Own"]);
    }
    const operations = (await sortkey.requests()).map((r) => r.operation);
    expect(operations.slice(0, 2)).toEqual(["ListTables", "CreateTable"]);
  });
}

test("a test that runs beside others has its own", async () => {
  const other = connect().database();
  await early.createTable({ TableName: "Own", ...key });
  expect((await new DynamoDB(other.config).listTables()).TableNames).toEqual(["Loaded"]);
  await other.reset();
});

test("the clock expires items", async () => {
  const db = new DynamoDB();
  const until = String(Math.floor(Date.now() / 1000) + 3600);
  await db.updateTimeToLive({
    TableName: "Loaded",
    TimeToLiveSpecification: { Enabled: true, AttributeName: "until" },
  });
  await db.putItem({ TableName: "Loaded", Item: { id: { S: "1" }, until: { N: until } } });
  await sortkey.clock.advance(30 * 60_000);
  expect((await db.scan({ TableName: "Loaded" })).Count).toBe(1);
  await sortkey.clock.advance("31m");
  expect((await db.scan({ TableName: "Loaded" })).Count).toBe(0);
  const scans = (await sortkey.requests()).filter((r) => r.operation === "Scan");
  expect(scans.map((r) => r.returned)).toEqual([1, 0]);
});

test("faults are counted and lifted", async () => {
  const db = new DynamoDB();
  const late = await sortkey.fail({ operation: "ListTables", delay: 200, nth: [1] });
  const begin = Date.now();
  await db.listTables();
  expect(Date.now() - begin).toBeGreaterThanOrEqual(199);
  expect(await late.count()).toBe(1);
  await late.lift();
  expect(await late.count()).toBe(0);
  await expect(sortkey.fail({ operation: "PutIte" })).rejects.toThrow("PutIte");
});

test("a database is copied", async () => {
  const db = new DynamoDB();
  await db.putItem({ TableName: "Loaded", Item: { id: { S: "1" } } });
  const other = connect().database();
  await other.restore(sortkey);
  expect((await new DynamoDB(other.config).scan({ TableName: "Loaded" })).Count).toBe(1);
  await other.reset();
  expect((await new DynamoDB(other.config).scan({ TableName: "Loaded" })).Count).toBe(0);
});

test("a server starts and ends", async () => {
  const server = await startServer();
  expect((await new DynamoDB(server.database().config).listTables()).TableNames).toEqual([]);
  await server.close();
  await server.close();
  await expect(startServer({ load: "nothere.yaml" })).rejects.toThrow("nothere.yaml");
});
