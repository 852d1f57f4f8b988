// Checks the TypeScript that sortkey design gen writes. scripts/check-gen.sh runs it.
//
//   node check_gen.mjs FOLDER OUT keys       key functions, against the answers of package keys
//   node check_gen.mjs FOLDER OUT MODULE     the patterns of a model, against a server with its items
//
// FOLDER has what the test in fuzz/gencheck wrote, and OUT the JavaScript that tsc made of it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { DeleteItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";

const [folder, out, what] = process.argv.slice(2);
const json = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
const checks = json("checks.json");
const load = (module) => import(join(out, module + ".js"));
let wrong = 0;

function complain(message) {
  wrong++;
  if (wrong <= 20) console.error("typescript: " + message);
}

const show = (v) => JSON.stringify(v, (_, x) => (typeof x === "bigint" ? String(x) : x));

async function checkKeys() {
  const module = await load(checks[0].Module);
  const data = json("vectors.json");
  const keyType = (t) =>
    new module.KeyType(t.Name || "string", { width: t.Width, scale: t.Scale, values: t.Values ?? [], desc: t.Desc });
  const part = (p) => (p.Name ? { name: p.Name, type: keyType(p.Type) } : { literal: p.Literal });
  const templates = data.Templates.map((t) => new module.Template(t.Source, t.Parts.map(part)));
  const integer = (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text));
  const value = (a) => {
    const v = a.Int ? integer(a.Text) : a.Text;
    return a.None ? null : a.Excluded ? new module.Excluding(v) : v;
  };

  for (const v of data.Vectors) {
    const template = templates[v.Template];
    let want = v.Want ?? [], got, error;
    try {
      got = template[v.Method](...(v.Args ?? []).map(value));
    } catch (e) {
      if (!(e instanceof module.InvalidKeyError)) throw e;
      error = e;
    }
    if (v.Error?.Msg === "" && error) continue; // any error
    if (v.Error) {
      want = ["Msg", "Advice", "Template", "Component"].map((k) => v.Error[k].replace("pass nil", "pass null"));
      got = error && [error.msg, error.advice, error.template, error.component];
    } else if (typeof got === "string") {
      got = [got];
    } else if (got && !Array.isArray(got)) {
      got = [got.low, got.high, got.prefix];
    }
    if (!isDeepStrictEqual(got, want)) {
      complain(`${show(template.source)} ${v.Method} ${show(v.Args)}: got ${show(got ?? error)}, want ${show(want)}`);
    }
  }
  console.log(`typescript: ${data.Vectors.length} calls of ${templates.length} templates answer as in Go`);
}

// plain returns a value of the client or of DynamoDB JSON in one form: bytes in base64, and numbers without
// the zeros of their templates.
function plain(v) {
  const [kind, inner] = Object.entries(v)[0];
  const bytes = (b) => (typeof b === "string" ? b : Buffer.from(b).toString("base64"));
  switch (kind) {
    case "N":
      return { N: inner.replace(/^(-?)0+(?=[0-9])/, "$1") };
    case "B":
      return { B: bytes(inner) };
    case "BS":
      return { BS: inner.map(bytes) };
    case "L":
      return { L: inner.map(plain) };
    case "M":
      return { M: Object.fromEntries(Object.entries(inner).map(([k, e]) => [k, plain(e)])) };
  }
  return { [kind]: inner };
}
const normal = (item) => Object.fromEntries(Object.entries(item ?? {}).sort().map(([k, v]) => [k, plain(v)]));
// native returns an item of DynamoDB JSON in the form of the client, whose binary values are bytes.
const native = (item) => Object.fromEntries(Object.entries(item).map(([name, v]) =>
  [name, v.B === undefined ? v : { B: Buffer.from(v.B, "base64") }]));
const argument = (a) => (a.Number ? Number(a.Text) : a.Text);

async function checkModel(check) {
  const module = await load(check.Module);
  const client = new DynamoDBClient({});
  let pages = 0;
  for (const call of check.Calls.typescript ?? []) {
    // A second time in pages of a few items, for requests without a limit.
    const small = {
      send(command) {
        pages++;
        if (call.Operation !== "GetItem") {
          command.input = { Limit: 1 + Math.floor(call.Items.length / 3), ...command.input };
        }
        return client.send(command);
      },
    };
    for (const using of [client, small]) {
      const result = module[call.Function](using, ...call.Args.map(argument));
      let got = [];
      if (call.Operation === "GetItem") {
        const item = await result;
        if (item) got.push(item);
      } else {
        for await (const item of result) got.push(item);
      }
      if (!isDeepStrictEqual(got.map(normal), call.Items.map(normal))) {
        complain(`${check.Module}.${call.Function} returns ${got.length} items, want ${call.Items.length}: ` +
          show(got.slice(0, 2)) + show(call.Items.slice(0, 2)));
      }
    }
  }
  for (const k of check.Keys.typescript ?? []) {
    const values = Object.fromEntries(Object.entries(k.Values).map(([name, a]) => [name, argument(a)]));
    const attributes = module[k.Attributes](values);
    if (!isDeepStrictEqual(normal(attributes), normal(k.Item))) {
      complain(`${check.Module}.${k.Attributes}: ${show(attributes)}, want ${show(k.Item)}`);
    }
    const again = module[k.Attributes](module[k.Parse](attributes));
    for (const name of Object.keys(again)) {
      if (!isDeepStrictEqual(normal(again)[name], normal(k.Item)[name])) {
        complain(`${check.Module}.${k.Parse}: ${name} is ${show(again[name])}, want ${show(k.Item[name])}`);
      }
    }
  }
  let writes = 0;
  for (const w of check.Writes.typescript ?? []) {
    const where = `${check.Module}.${w.Function}`;
    await client.send(new DeleteItemCommand({ TableName: w.Table, Key: native(w.Key) }));
    if (w.Before) await client.send(new PutItemCommand({ TableName: w.Table, Item: native(w.Before) }));
    const values = Object.fromEntries(Object.entries(w.Values).map(([name, a]) => [name, argument(a)]));
    try {
      await module[w.Function](client, values, ...(w.Other ? [native(w.Other)] : []), ...w.Args.map(argument));
    } catch (e) {
      if (e.name !== "ConditionalCheckFailedException" || !w.Conditional) complain(`${where}: ${e}`);
      continue;
    }
    const key = { TableName: w.Table, Key: native(w.Key), ConsistentRead: true };
    const { Item } = await client.send(new GetItemCommand(key));
    if (!isDeepStrictEqual(normal(Item), normal(w.After))) {
      complain(`${where} leaves ${show(Item)}, want ${show(w.After)}`);
    }
    writes++;
  }
  if (check.Writes.typescript && !writes) complain(`${check.Module}: no write was made`);
  const patterns = (check.Calls.typescript ?? []).length, samples = (check.Keys.typescript ?? []).length;
  console.log(`typescript: ${check.Model}: the functions of ${patterns} patterns are right, ` +
    `also in ${pages} small pages, and the keys of ${samples} items; ${writes} writes leave the right items`);
}

await (what === "keys" ? checkKeys() : checkModel(checks.find((c) => c.Module === what)));
process.exit(wrong ? 1 : 0);
