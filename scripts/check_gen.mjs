// Checks the TypeScript that sortkey design gen writes. scripts/check-gen.sh runs it.
//
//   node check_gen.mjs FOLDER OUT keys       package @sortkey/keys, against the answers of package keys in Go
//   node check_gen.mjs FOLDER OUT MODULE     the patterns of a model, against a server with its items
//
// FOLDER has what the test in internal/design/gen wrote, and OUT the JavaScript that tsc made of it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { DynamoDBClient, GetItemCommand, QueryCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import * as keys from "@sortkey/keys";

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
  const data = json("vectors.json");
  const keyType = (t) =>
    new keys.KeyType(t.Name || "string", { width: t.Width, scale: t.Scale, values: t.Values ?? [], desc: t.Desc });
  const part = (p) => (p.Name ? { name: p.Name, type: keyType(p.Type) } : { literal: p.Literal });
  const templates = data.Templates.map((t) => new keys.Template(t.Source, t.Parts.map(part)));
  const integer = (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text));
  const value = (a) => {
    const v = a.Int ? integer(a.Text) : a.Text;
    return a.None ? null : a.Excluded ? new keys.Excluding(v) : v;
  };

  for (const v of data.Vectors) {
    const template = templates[v.Template];
    let want = v.Want ?? [], got, error;
    try {
      got = template[v.Method](...(v.Args ?? []).map(value));
    } catch (e) {
      if (!(e instanceof keys.InvalidKeyError)) throw e;
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
const argument = (a) => (a.Number ? Number(a.Text) : a.Text);

// pages returns the items of all pages, which have a few items if a size is given. A request with a limit asks for one.
async function pages(client, operation, request, size) {
  const Command = { GetItem: GetItemCommand, Query: QueryCommand, Scan: ScanCommand }[operation];
  const all = [];
  let page = operation === "GetItem" || !size ? request : { Limit: size, ...request };
  for (;;) {
    const out = await client.send(new Command(page));
    all.push(...(out.Items ?? []));
    if (out.Item) all.push(out.Item);
    if (!out.LastEvaluatedKey || request.Limit) return all;
    page = { ...page, ExclusiveStartKey: out.LastEvaluatedKey };
  }
}

async function checkModel(check) {
  const module = await load(check.Module);
  const client = new DynamoDBClient({});
  const calls = check.Calls.typescript ?? [], samples = check.Keys.typescript ?? [];
  for (const call of calls) {
    const request = module[call.Function](...call.Args.map(argument));
    for (const size of [undefined, 1 + Math.floor(call.Items.length / 3)]) {
      const got = await pages(client, call.Operation, request, size);
      if (!isDeepStrictEqual(got.map(normal), call.Items.map(normal))) {
        complain(`the request of ${check.Module}.${call.Function} finds ${got.length} items, ` +
          `want ${call.Items.length}: ` + show(got.slice(0, 2)) + show(call.Items.slice(0, 2)));
      }
    }
  }
  for (const k of samples) {
    const values = Object.fromEntries(Object.entries(k.Values).map(([name, a]) => [name, argument(a)]));
    const attributes = module[k.Attributes](values);
    if (!isDeepStrictEqual(normal(attributes), normal(k.Item))) {
      complain(`${check.Module}.${k.Attributes}: ${show(attributes)}, want ${show(k.Item)}`);
    }
  }
  console.log(`typescript: ${check.Model}: ${calls.length} requests and the keys of ${samples.length} items are right`);
}

await (what === "keys" ? checkKeys() : checkModel(checks.find((c) => c.Module === what)));
process.exit(wrong ? 1 : 0);
