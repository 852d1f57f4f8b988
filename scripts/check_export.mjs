// Stores the sample items of exported models with OneTable and ElectroDB, and compares what is
// stored with the items of the models. scripts/check-export.sh runs it.
//
//   node check_export.mjs FOLDER
//
// FOLDER has a folder for each model, with the files of create-table, onetable and electrodb.
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  CreateTableCommand, DeleteTableCommand, DynamoDBClient, GetItemCommand, UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { Table } from "dynamodb-onetable";
import { Dynamo } from "dynamodb-onetable/Dynamo";
import { Entity } from "electrodb";

const root = process.argv[2];
const client = new DynamoDBClient({});
const documents = DynamoDBDocumentClient.from(client);
const json = (...path) => JSON.parse(readFileSync(join(root, ...path), "utf8"));
let wrong = 0, stored = { OneTable: 0, ElectroDB: 0 }, left = 0;

function complain(where, message) {
  wrong++;
  console.error(`${where}: ${message}`);
}

// typed reports whether a value is DynamoDB JSON, as schemas write sets and maps.
const typed = (v) => v !== null && typeof v === "object";

// keyOf returns the key of an item.
function keyOf(request, item) {
  const kinds = Object.fromEntries(request.AttributeDefinitions.map((a) => [a.AttributeName, a.AttributeType]));
  return Object.fromEntries(request.KeySchema.map(({ AttributeName: n }) => [n, { [kinds[n]]: String(item[n]) }]));
}

// read returns the item with the key of another one.
async function read(request, item) {
  const Key = keyOf(request, item);
  const out = await client.send(new GetItemCommand({ TableName: request.TableName, Key, ConsistentRead: true }));
  return out.Item && unmarshall(out.Item);
}

// compare compares an item with the one that is stored, apart from the attributes that a library adds.
async function compare(where, request, item, names) {
  const got = await read(request, item);
  if (!got) return complain(where, `the item ${JSON.stringify(item)} is not stored under its key`);
  for (const name of names) {
    if (!isDeepStrictEqual(got[name], item[name])) {
      complain(where, `${name} is ${JSON.stringify(got[name])}, want ${JSON.stringify(item[name])}`);
    }
  }
}

async function oneTable(where, request, schema) {
  const table = new Table({ client: new Dynamo({ client }), name: request.TableName, schema, partial: false });
  for (const item of schema.items ?? []) {
    const model = schema.models[item[schema.params.typeField]];
    const properties = {};
    for (const [name, p] of Object.entries(model)) {
      const value = item[p.map ?? name];
      if (p.value !== undefined || value === undefined) continue;
      properties[name] = p.type === "date" ? new Date(p.ttl ? value * 1000 : value) : value;
    }
    if (Object.values(item).some(typed)) { left++; continue; }
    await table.getModel(item[schema.params.typeField]).create(properties, { exists: null });
    await compare(where, request, item, Object.keys(item).filter((n) => declared(schema.models, n)));
    stored.OneTable++;
  }
}

// declared reports whether a model stores an attribute. Samples can have others.
const declared = (models, name) =>
  Object.values(models).some((m) => Object.entries(m).some(([n, p]) => (p.map ?? n) === name));

async function electroDB(where, request, schemas, items, typeField) {
  for (const schema of schemas) {
    const entity = new Entity(schema, { client: documents, table: request.TableName });
    for (const item of items.filter((i) => i[typeField] === schema.model.entity)) {
      const properties = {};
      for (const [name, a] of Object.entries(schema.attributes)) {
        const value = item[a.field ?? name] ?? item[name];
        if (value !== undefined && a.default === undefined) properties[name] = value;
      }
      if (Object.values(item).some(typed)) { left++; continue; }
      await entity.put(properties).go();
      const fields = Object.values(schema.indexes).flatMap((x) => [x.pk.field, x.sk?.field]).filter(Boolean);
      await compare(`${where}: ${schema.model.entity}`, request, item, fields);
      stored.ElectroDB++;

      // An item as another program writes it has no marks: it is found as the export's advice says.
      await client.send(new UpdateItemCommand({
        TableName: request.TableName, Key: keyOf(request, item), UpdateExpression: "REMOVE #e, #v",
        ExpressionAttributeNames: { "#e": "__edb_e__", "#v": "__edb_v__" },
      }));
      const { data: marked } = await entity.query.primary(properties).go();
      const { data: all } = await entity.query.primary(properties).go({ ignoreOwnership: true });
      if (marked.length !== 0 || all.length !== 1) {
        complain(where, `a query finds ${marked.length} items without marks, and with ignoreOwnership ${all.length}, ` +
          `want 0 and 1`);
      }
    }
  }
}

for (const model of readdirSync(root)) {
  for (const file of readdirSync(join(root, model, "create"))) {
    if (!existsSync(join(root, model, "onetable", file))) continue; // the libraries cannot have the table
    const request = json(model, "create", file), schema = json(model, "onetable", file);
    const each = async (name, check) => {
      await client.send(new CreateTableCommand(request));
      try {
        await check(`${name}: ${model}/${file}`);
      } catch (e) {
        complain(`${name}: ${model}/${file}`, e.stack);
      }
      await client.send(new DeleteTableCommand({ TableName: request.TableName }));
    };
    await each("OneTable", (where) => oneTable(where, request, schema));
    if (existsSync(join(root, model, "electrodb", file))) {
      const schemas = json(model, "electrodb", file);
      const { items = [], params } = schema;
      await each("ElectroDB", (where) => electroDB(where, request, schemas, items, params.typeField));
    }
  }
}
console.log(`OneTable stored ${stored.OneTable} items and ElectroDB ${stored.ElectroDB}, ` +
  `with the keys of the models; ${left} times an item was left out, because it has a set, a list or a map`);
process.exit(wrong ? 1 : 0);
