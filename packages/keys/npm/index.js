"use strict";
// Composite keys whose byte order is the order of their values, for code that sortkey design gen writes.

/** A value or a key that a template refuses. Members that do not apply are empty. */
class InvalidKeyError extends Error {
  constructor(msg, advice = "", template = "", component = "") {
    super(msg);
    this.msg = msg;
    this.advice = advice;
    this.template = template;
    this.component = component;
    this.name = "InvalidKeyError";
    this.at(template, component);
  }

  /** Adds the template and the component to the error. */
  at(template, component) {
    this.template = template;
    this.component = component;
    this.message =
      (template ? `template ${quote(template)}: ` : "") +
      (component ? `component ${component}: ` : "") +
      this.msg +
      (this.advice ? `; ${this.advice}` : "");
    return this;
  }
}

/** How the value of a component becomes a part of a key. */
class KeyType {
  constructor(name, of = {}) {
    this.name = name;
    this.width = of.width ?? 0;
    this.scale = of.scale ?? 0;
    this.values = of.values ?? [];
    this.desc = of.desc ?? false;
  }

  toString() {
    let text = this.name;
    if (this.values.length > 0) text += `(${this.values.join(",")})`;
    else if (this.name === "decimal") text += `(${this.width},${this.scale})`;
    else if (this.width) text += `(${this.width})`;
    return text + (this.desc ? ":desc" : "");
  }

  /** The number of bytes of every part, or 0 if it varies. */
  fixed() {
    switch (this.name) {
      case "string":
      case "int":
      case "hex":
        return this.width;
      case "signed":
        return 1 + this.width;
      case "decimal":
        return 1 + this.width + (this.scale ? 1 + this.scale : 0);
      case "enum": {
        const sizes = new Set(this.values.map(size));
        return sizes.size === 1 ? [...sizes][0] : 0;
      }
      case "epoch":
        return 10;
      case "epochms":
        return 13;
      case "uuid":
        return 36;
      case "ulid":
        return 26;
      case "ksuid":
        return 27;
    }
    return this.layout?.length ?? 0;
  }

  /** Whether the byte order of parts is the order of the values. */
  ordered() {
    if (this.name === "enum") return this.values.every((v, i) => i === 0 || compareText(this.values[i - 1], v) <= 0);
    return this.name !== "number";
  }

  get layout() {
    return layouts.get(this.name);
  }

  /** The canonical text form of a value. */
  canonical(text) {
    switch (this.name) {
      case "string":
      case "path":
        if (this.name === "string" && this.width && size(text) !== this.width) {
          const advice = "pass a value of that length, or use the type string";
          throw invalid(text, `has ${size(text)} bytes, not ${this.width}`, advice);
        }
        return utf8(text);
      case "int":
      case "signed":
      case "decimal":
      case "number":
        return this.number(text);
      case "enum":
        if (!this.values.includes(text)) {
          const advice = "use one of these values or add it to the enum; values are case-sensitive";
          throw invalid(text, "is not one of " + this.values.join(", "), advice);
        }
        return text;
    }
    return this.layout ? this.time(text) : this.id(text);
  }

  number(text) {
    const number = decimal(text);
    if (!number) {
      const example = this.name === "decimal" ? "12.5" : this.name === "number" ? "-3.5" : "42";
      throw invalid(text, "is not a number", `write it in digits, as ${example}`);
    }
    const { negative, whole, frac } = number;
    const wide =
      "choose a width that fits the largest value there will ever be: " +
      "keys of different widths do not sort by value";
    if (this.name === "number") {
      checkRange(text, whole, frac);
    } else if (this.name === "decimal") {
      if (whole.length > this.width) throw invalid(text, `has more than ${digits(this.width)} before the point`, wide);
      if (frac.length > this.scale) {
        const advice = "round the value, or use a larger scale";
        throw invalid(text, `has more than ${digits(this.scale)} after the point`, advice);
      }
    } else if (frac) {
      throw invalid(text, "has a fraction", "use decimal(w,s), which keeps fractions");
    } else if (whole.length > this.width) {
      throw invalid(text, "has more than " + digits(this.width), wide);
    }
    if (this.name === "int" && negative) {
      throw invalid(text, "is negative", "use signed(w), which sorts negative numbers");
    }
    return (negative ? "-" : "") + (whole || "0") + (frac ? "." + frac : "");
  }

  time(text) {
    const layout = this.layout;
    const epoch = this.name === "epoch" || this.name === "epochms";
    let at;
    if (epoch && /^[+-]?[0-9]+$/.test(text)) {
      const n = BigInt(text.replace(/^\+/, ""));
      if (-(2n ** 63n) <= n && n < 2n ** 63n) {
        const per = this.name === "epoch" ? 1n : 1000n;
        const rest = ((n % per) + per) % per;
        at = { seconds: (n - rest) / per, nanos: Number(rest) * 1e6 };
      }
    }
    at ?? (at = parseTime(text, layout));
    if (!at) throw notTime(this, text);
    if (epoch) {
      const since = this.since(at);
      if (since < 0n || String(since).length > this.fixed()) {
        const advice =
          "check that the value is in the right unit, or use time or millis, " + "which support the years 0 to 9999";
        throw invalid(text, `does not fit into ${this.fixed()} digits of an epoch`, advice);
      }
    }
    return formatTime(at, layout);
  }

  since(at) {
    return this.name === "epoch" ? at.seconds : at.seconds * 1000n + BigInt(Math.floor(at.nanos / 1e6));
  }

  id(text) {
    if (this.name === "ulid") {
      const upper = mapCase(text, (c) => c.toUpperCase());
      if (!/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(upper)) {
        const advice =
          "write it as 01ARZ3NDEKTSV4RRFFQ69G5FAV: 26 digits and letters " +
          "without I, L, O and U, the first at most 7";
        throw invalid(text, "is not a ULID", advice);
      }
      return upper;
    }
    if (this.name === "ksuid") {
      if (!/^[0-9A-Za-z]{27}$/.test(text) || text > "aWgEPTl1tmebfsQzFP4bxwgy80V") {
        const advice = "write it as 0ujtsYcgvSTl8PAuAdqWYSMnLOv: 27 digits and letters";
        throw invalid(text, "is not a KSUID", advice);
      }
      return text;
    }
    const lower = mapCase(text, (c) => c.toLowerCase());
    if (this.name === "uuid") {
      if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(lower)) {
        throw invalid(text, "is not a UUID", "write it as 123e4567-e89b-12d3-a456-426614174000");
      }
    } else if (lower.length !== this.width || !/^[0-9a-f]*$/.test(lower)) {
      throw invalid(text, `is not ${this.width} hexadecimal digits`, "write it in 0-9 and a-f");
    }
    return lower;
  }

  /** The part of a key for a value in text form. */
  encode(text) {
    let part = this.canonical(text);
    switch (this.name) {
      case "int":
        part = part.padStart(this.width, "0");
        break;
      case "signed":
      case "decimal": {
        const { negative, whole, frac } = decimal(part);
        let all = whole.padStart(this.width, "0");
        if (this.scale) all += "." + frac.padEnd(this.scale, "0");
        part = negative ? "0" + complement(all) : "1" + all;
        break;
      }
      case "epoch":
      case "epochms":
        part = String(this.since(parseTime(part, this.layout))).padStart(this.fixed(), "0");
    }
    return this.desc ? complement(part) : part;
  }

  /** The value of a part of a key, in canonical text form. */
  decode(part) {
    const bad = () => invalid(part, `is not a valid ${this} in a key`, "");
    let text = this.desc ? complement(part) : part;
    switch (this.name) {
      case "int":
        text = text.replace(/^0+/, "") || "0";
        break;
      case "signed":
      case "decimal":
        if (text.length < 2 || (text[0] !== "0" && text[0] !== "1")) throw bad();
        text = text[0] === "1" ? text.slice(1) : "-" + complement(text.slice(1));
        break;
      case "epoch":
      case "epochms":
        if (text.length !== this.fixed() || !/^[0-9]+$/.test(text)) throw bad();
        text = this.canonical(text);
    }
    let again;
    try {
      again = this.encode(text);
    } catch (e) {
      throw this.desc ? bad() : e;
    }
    if (again !== part) throw invalid(part, `is not a valid ${this} in a key`, "write " + clip(again));
    return this.canonical(text);
  }

  /** The common beginning of the parts of all values that begin with partial. */
  encodePrefix(partial) {
    let part = partial;
    switch (this.name) {
      case "int":
      case "signed":
      case "decimal":
      case "epoch":
      case "epochms": {
        const advice = "keys of this type are padded to sort by value: use a range with two bounds";
        throw invalid(partial, `cannot be a prefix of keys of type ${this}`, advice);
      }
      case "uuid":
      case "hex":
        part = utf8(mapCase(partial, (c) => c.toLowerCase()));
        break;
      case "ulid":
        part = utf8(mapCase(partial, (c) => c.toUpperCase()));
        break;
      default:
        if (this.layout) this.checkPrefix(partial, this.layout);
        else utf8(partial);
    }
    if (this.fixed() && size(part) > this.fixed()) throw invalid(partial, `is longer than every ${this.name}`, "");
    return this.desc ? complement(part) : part;
  }

  checkPrefix(partial, layout) {
    const digit = (c) => c >= "0" && c <= "9";
    for (let i = 0; i < partial.length; i++) {
      const c = partial[i],
        l = layout[i];
      if (l === undefined || (c !== l && !(digit(c) && digit(l)))) {
        const sample = formatTime({ seconds: 1767607200n, nanos: 0 }, layout);
        const advice = `write the beginning of a time such as ${sample}, in UTC`;
        throw invalid(partial, `is not the beginning of a time of type ${this}`, advice);
      }
    }
  }

  /** -1, 0 or 1 in the order that the keys of two values should have. */
  compare(a, b) {
    const x = this.canonical(a),
      y = this.canonical(b);
    let order;
    if (["int", "signed", "decimal", "number"].includes(this.name)) order = compareNumbers(x, y);
    else if (this.name === "enum") order = Math.sign(this.values.indexOf(x) - this.values.indexOf(y));
    else order = compareText(x, y);
    return this.desc ? -order : order;
  }
}

/** A bound that does not belong to its range. */
class Excluding {
  constructor(value) {
    this.value = value;
  }
}

const plainString = new KeyType("string");

/** Builds keys from values and parses keys. */
class Template {
  constructor(source, parts) {
    this.source = source;
    this.parts = parts;
    this.components = parts.filter((p) => p.name);
  }

  /** The key of values, one for each component in order. */
  format(...values) {
    if (values.length !== this.components.length) throw this.count(values.length, "Format");
    return this.prefix(...values);
  }

  /** The common prefix of all keys with these first components, with the text after the last. */
  prefix(...values) {
    if (values.length > this.components.length) throw this.count(values.length, "the call");
    const texts = values.map((v, i) => this.named(this.components[i], () => textOf(v)));
    let key = "";
    for (const [i, p] of this.parts.entries()) {
      if (!p.name) key += p.literal;
      else if (texts.length === 0) break;
      else key += this.part(i, texts.shift());
    }
    return key;
  }

  /** The values in a key, in canonical text form and in the order of the components. */
  values(key) {
    let rest = key;
    const found = [];
    for (const [i, p] of this.parts.entries()) {
      const part = this.cut(i, rest);
      if (part === undefined) throw this.mismatch(key);
      rest = rest.slice(part.length);
      if (p.name) found.push(this.named(p, () => (p.type ?? plainString).decode(part)));
    }
    if (rest) throw this.mismatch(key);
    return found;
  }

  /** The range of the keys with these first components. */
  under(...values) {
    const prefix = this.prefix(...values);
    if (values.length === this.components.length) return { low: prefix, high: prefix, prefix: "" };
    return within(prefix);
  }

  /** The range of the keys whose next component begins with partial. */
  beginsWith(partial, ...outer) {
    const [p, base] = this.level(outer);
    return within(base + this.named(p, () => (p.type ?? plainString).encodePrefix(textOf(partial))));
  }

  /** The range of the keys whose next component is between two values; null means no bound. */
  between(low, high, ...outer) {
    const [p, base] = this.level(outer);
    const type = p.type ?? plainString;
    if (low === null && high === null) return within(base);
    if (!type.ordered()) {
      const msg = `keys of ${type} do not sort by value, so the keys between two values are not one range`;
      const advice = "use a type that sorts by value, as int(8), signed(8) or decimal(8,2)";
      throw new InvalidKeyError(msg, advice, this.source, p.name);
    }
    if (type.desc) [low, high] = [high, low];
    let start = base,
      end = successor(base) ?? "";
    if (low !== null) start = this.bound(p, base, low, true);
    if (high !== null) end = this.bound(p, base, high, false);
    if (end && compareText(start, end) > 0) {
      throw new InvalidKeyError("no value is between the bounds", "pass the smaller value first", this.source, p.name);
    }
    return { low: start, high: end, prefix: "" };
  }

  named(p, f) {
    try {
      return f();
    } catch (e) {
      throw e instanceof InvalidKeyError ? e.at(this.source, p.name ?? "") : e;
    }
  }

  count(n, caller) {
    const names = this.components.map((c) => quote(c.name));
    const msg = `wrong number of values for ${caller}: got ${n}, want ${names.length}`;
    return new InvalidKeyError(msg, `pass the values of [${names.join(" ")}], in this order`, this.source);
  }

  part(i, text) {
    const p = this.parts[i],
      type = p.type ?? plainString;
    const part = this.named(p, () => type.encode(text));
    if (!part && this.parts.length > 1) {
      const advice =
        "use a value of at least one byte: a key with an empty part would look like a prefix of other keys";
      throw new InvalidKeyError("the value is empty", advice, this.source, p.name);
    }
    const next = this.parts[i + 1];
    if (!type.fixed() && next) this.closes(p, part, next.literal);
    return part;
  }

  closes(p, part, literal) {
    if (p.type?.name === "path" || (part + literal).indexOf(literal) === part.length) return;
    const why = part.includes(literal)
      ? `contains ${clip(literal)}, the text that follows the component`
      : `followed by ${clip(literal)} contains that text before the end of the value`;
    const advice = "remove it from the value, or use a delimiter that no value contains";
    const msg = `${clip(part)} ${why}, so the key could not be parsed back`;
    throw new InvalidKeyError(msg, advice, this.source, p.name);
  }

  cut(i, key) {
    const p = this.parts[i],
      type = p.type ?? plainString;
    if (!p.name) return key.startsWith(p.literal) ? p.literal : undefined;
    let n = key.length;
    const next = this.parts[i + 1];
    if (type.fixed()) {
      let bytes = 0;
      n = 0;
      for (const c of key) {
        if (bytes >= type.fixed()) break;
        bytes += size(c);
        n += c.length;
      }
      if (bytes < type.fixed()) return undefined;
    } else if (next) {
      n = type.name === "path" ? key.length - next.literal.length : key.indexOf(next.literal);
    }
    return n < 0 || (n === 0 && this.parts.length > 1) ? undefined : key.slice(0, n);
  }

  mismatch(key) {
    const advice = "check that the key belongs to this template";
    let rest = key;
    for (const [i, p] of this.parts.entries()) {
      const part = this.cut(i, rest);
      if (part === undefined) {
        let msg = `the key ${clip(key)} ends before ${p.name}`;
        const next = this.parts[i + 1];
        if (!p.name) msg = `the key ${clip(key)} does not have ${clip(p.literal)} at byte ${size(key) - size(rest)}`;
        else if (!(p.type ?? plainString).fixed() && next && rest) {
          msg = `the key ${clip(key)} does not have ${clip(next.literal)} after ${p.name}`;
        }
        return new InvalidKeyError(msg, advice, this.source, p.name);
      }
      rest = rest.slice(part.length);
    }
    const msg = `the key ${clip(key)} continues at byte ${size(key) - size(rest)}, after the end of the template`;
    return new InvalidKeyError(msg, advice, this.source);
  }

  level(outer) {
    const base = this.prefix(...outer);
    const p = this.components[outer.length];
    if (!p) {
      const msg = "the template has no component after these values";
      throw new InvalidKeyError(msg, "pass fewer outer values", this.source);
    }
    return [p, base];
  }

  bound(p, base, bound, low) {
    const excluded = bound instanceof Excluding;
    const i = this.parts.indexOf(p);
    const part = this.part(
      i,
      this.named(p, () => textOf(bound instanceof Excluding ? bound.value : bound)),
    );
    if (!part) throw new InvalidKeyError("the bound is empty", "pass null for no bound", this.source, p.name);
    let key = base + part,
      last = true;
    const next = this.parts[i + 1];
    if (next) {
      key += next.literal ?? "";
      last = !next.name && i + 2 === this.parts.length;
    }
    if (low ? !excluded : excluded !== last) return key;
    if (!low && excluded) return below(key);
    if (low && last) return key + "\0";
    const above = successor(key);
    if (low && above === undefined) {
      throw new InvalidKeyError("no key is greater than the bound", "pass a smaller bound", this.source, p.name);
    }
    return above ?? "";
  }
}

const layouts = new Map([
  ["year", "2006"],
  ["month", "2006-01"],
  ["date", "2006-01-02"],
  ["time", "2006-01-02T15:04:05Z"],
  ["millis", "2006-01-02T15:04:05.000Z"],
  ["micros", "2006-01-02T15:04:05.000000Z"],
  ["nanos", "2006-01-02T15:04:05.000000000Z"],
  ["epoch", "2006-01-02T15:04:05Z"],
  ["epochms", "2006-01-02T15:04:05.000Z"],
]);

/** The text form of a value. */
function textOf(value) {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return String(value);
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (value === undefined || value === null) throw new InvalidKeyError(`the value is ${value}`, "pass a value");
  const what = value instanceof Date ? "an invalid Date" : `the number ${value}`;
  throw new InvalidKeyError(
    `cannot use ${what} in a key`,
    "pass a string, a safe integer, a bigint or a valid Date; pass a decimal as a string",
  );
}

function invalid(value, why, advice) {
  return new InvalidKeyError(`${clip(value)} ${why}`, advice);
}

const encoder = new TextEncoder();

/** The number of bytes of a text in UTF-8. */
function size(text) {
  return encoder.encode(text).length;
}

function utf8(text) {
  if (/\p{Surrogate}/u.test(text)) {
    const advice = "keys of type S must be UTF-8; store bytes in an attribute of type B, or encode them with hex";
    throw invalid(text, "is not UTF-8", advice);
  }

  return text;
}

/** Compares texts by their bytes in UTF-8, which is not the order of JavaScript. */
function compareText(a, b) {
  const x = encoder.encode(a),
    y = encoder.encode(b);
  for (let i = 0; i < x.length && i < y.length; i++) {
    if (x[i] !== y[i]) return x[i] < y[i] ? -1 : 1;
  }

  return Math.sign(x.length - y.length);
}

function clip(value) {
  if (size(value) <= 80) return quote(value);
  let text = "";
  for (const c of value) {
    if (size(text + c) > 80) break;
    text += c;
  }

  return quote(text) + "…";
}

function quote(text) {
  const short = new Map([
    ['"', '\\"'],
    ["\\", "\\\\"],
    ["\x07", "\\a"],
    ["\b", "\\b"],
    ["\f", "\\f"],
    ["\n", "\\n"],
    ["\r", "\\r"],
    ["\t", "\\t"],
    ["\v", "\\v"],
  ]);
  let out = "";
  for (const c of text) {
    const code = c.codePointAt(0),
      hex = code.toString(16);
    if (short.has(c)) out += short.get(c);
    else if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(c)) out += c;
    else if (code < 0x80) out += "\\x" + hex.padStart(2, "0");
    else out += code < 0x10000 ? "\\u" + hex.padStart(4, "0") : "\\U" + hex.padStart(8, "0");
  }

  return '"' + out + '"';
}

/** The characters of a text in upper or lower case, as far as that is one character. */
function mapCase(text, change) {
  return Array.from(text, (c) => {
    const changed = c === "\u0130" && change(c) !== c ? "i" : change(c);
    return [...changed].length === 1 ? changed : c;
  }).join("");
}

function digits(n) {
  return n === 1 ? "1 digit" : `${n} digits`;
}

function complement(text) {
  return text.replace(/[0-9]/g, (d) => String(9 - Number(d)));
}

/** The sign of a number, and its digits before and after the point without outer zeros. */
function decimal(text) {
  const found = /^([+-]?)([0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text);
  if (!found || !(found[2] || found[3])) return undefined;
  let whole = found[2],
    frac = found[3] ?? "";
  const exponent = Number(found[4] ?? "0");
  if (exponent < -32768 || exponent > 32767) return undefined;
  if (exponent > 0) {
    frac = frac.padEnd(exponent, "0");
    whole += frac.slice(0, exponent);
    frac = frac.slice(exponent);
  } else if (exponent < 0) {
    whole = whole.padStart(-exponent, "0");
    frac = whole.slice(whole.length + exponent) + frac;
    whole = whole.slice(0, whole.length + exponent);
  }

  whole = whole.replace(/^0+/, "");
  frac = frac.replace(/0+$/, "");
  return { negative: found[1] === "-" && (whole !== "" || frac !== ""), whole, frac };
}

function checkRange(text, whole, frac) {
  const significant = (whole + frac).replace(/^0+|0+$/g, "");
  if (significant.length > 38) {
    throw invalid(text, "has more than 38 significant digits", "round it: the service keeps no more");
  }

  const first = whole ? whole.length - 1 : frac.replace(/^0+/, "").length - frac.length - 1;
  if (significant && (first < -130 || first > 125)) {
    const advice = "use a number between 1E-130 and 9.99E+125, zero, or the same below zero";
    throw invalid(text, "is not in the range of the service's numbers", advice);
  }
}

function compareNumbers(a, b) {
  const x = decimal(a),
    y = decimal(b);
  if (x.negative !== y.negative) return x.negative ? -1 : 1;
  const order =
    Math.sign(x.whole.length - y.whole.length) || compareText(x.whole, y.whole) || compareText(x.frac, y.frac);
  return x.negative ? -order : order;
}

/** The days from 1970 to a date. */
function daysTo(year, month, day) {
  if (month <= 2) year--;
  const era = Math.floor(year / 400),
    ofEra = year - era * 400;
  const ofYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return era * 146097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719468;
}

/** The inverse of daysTo. */
function dateOf(days) {
  days += 719468;
  const era = Math.floor(days / 146097),
    ofEra = days - era * 146097;
  const years = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36524) - Math.floor(ofEra / 146096)) / 365,
  );
  const ofYear = ofEra - (365 * years + Math.floor(years / 4) - Math.floor(years / 100));
  const shifted = Math.floor((5 * ofYear + 2) / 153);
  const month = shifted + (shifted < 10 ? 3 : -9);
  const year = years + era * 400 + (month <= 2 ? 1 : 0);
  return [year, month, ofYear - Math.floor((153 * shifted + 2) / 5) + 1];
}

/** A time in the years 0 to 9999. */
function parseTime(text, layout) {
  if (layout === "2006" && /^[0-9]{4}$/.test(text)) text += "-01-01";
  else if (layout === "2006-01" && /^[0-9]{4}-[0-9]{2}$/.test(text)) text += "-01";
  const clock = "T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})";
  const found = new RegExp(`^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:${clock})?$`).exec(text);
  if (!found) return undefined;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const longest = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  if (longest === undefined || day < 1 || day > longest) return undefined;
  let seconds = daysTo(year, month, day) * 86400,
    nanos = 0;
  const zone = found[8];
  if (zone) {
    const [hour, minute, second] = [Number(found[4]), Number(found[5]), Number(found[6])];
    if (hour > 23 || minute > 59 || second > 59) return undefined;
    seconds += hour * 3600 + minute * 60 + second;
    nanos = Number((found[7] ?? "0").slice(0, 9).padEnd(9, "0"));
    if (zone !== "Z") {
      const hours = Number(zone.slice(1, 3)),
        minutes = Number(zone.slice(4));
      if (hours > 24 || minutes > 60) return undefined;
      seconds -= (zone[0] === "-" ? -1 : 1) * (hours * 3600 + minutes * 60);
    }
  }

  const at = dateOf(Math.floor(seconds / 86400))[0];
  return at < 0 || at > 9999 ? undefined : { seconds: BigInt(seconds), nanos };
}

function formatTime(at, layout) {
  const pad = (n, width) => String(n).padStart(width, "0");
  const seconds = Number(at.seconds),
    days = Math.floor(seconds / 86400),
    clock = seconds - days * 86400;
  const [year, month, day] = dateOf(days);
  const time = [Math.floor(clock / 3600), Math.floor(clock / 60) % 60, clock % 60].map((n) => pad(n, 2)).join(":");
  const full = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${time}`;
  if (layout.length < 20) return full.slice(0, layout.length);
  return full + (layout.length > 20 ? `.${pad(at.nanos, 9)}`.slice(0, layout.length - 20) : "") + "Z";
}

function notTime(t, text) {
  let advice = "write it as 2026-01-05T10:00:00Z, with Z or a zone such as +01:00";
  if (t.name === "year") advice = "write it as 2026, or a date or time in it";
  else if (t.name === "month") advice = "write it as 2026-01, or a date or time in it";
  else if (t.name === "date") advice = "write it as 2026-01-05, or a time in it with its zone";
  else if (t.name === "epoch") advice += ", or as 1767607200, the seconds since 1970";
  else if (t.name === "epochms") advice += ", or as 1767607200000, the milliseconds since 1970";
  if (text.length > 10 && !text.includes("Z") && parseTime(text.replace(" ", "T") + "Z", layouts.get("time"))) {
    return invalid(text, "has no time zone, so it is ambiguous", advice);
  }

  return invalid(text, `is not a valid time of type ${t}`, advice);
}

function within(prefix) {
  return { low: prefix, high: successor(prefix) ?? "", prefix };
}

/** The smallest text greater than all texts that begin with prefix. */
function successor(prefix) {
  const characters = [...prefix];
  while (characters[characters.length - 1] === "\u{10ffff}") characters.pop();
  const last = characters.pop();
  if (last === undefined) return undefined;
  const code = last.codePointAt(0) + 1;
  return characters.join("") + String.fromCodePoint(code === 0xd800 ? 0xe000 : code);
}

/** A text less than key that is greater than all lesser texts without U+10FFFF. */
function below(key) {
  const characters = [...key];
  const code = characters.pop().codePointAt(0);
  if (code === 0) return characters.join("");
  return characters.join("") + String.fromCodePoint(code === 0xe000 ? 0xd7ff : code - 1) + "\u{10ffff}";
}

/** The first or the last moment of the period of a time: of the day of a time, or of the day 2026-01-05. */
function moment(value, unit, last) {
  const text = textOf(value);
  const length = { year: 4, month: 7, day: 10, hour: 13, minute: 16 }[unit];
  const start = text.length === length ? text + "0000-01-01T00:00:00Z".slice(length) : text;
  const at = parseTime(start, layouts.get("time"));
  if (!at) return text; // the template refuses it
  let period = formatTime(at, layouts.get("nanos")).slice(0, length);
  if (!last) return period + "0000-01-01T00:00:00Z".slice(length);
  if (unit === "year" || unit === "month") {
    const year = Number(period.slice(0, 4)),
      month = Number(period.slice(5, 7) || 12);
    const days = daysTo(month === 12 ? year + 1 : year, (month % 12) + 1, 1) - daysTo(year, month, 1);
    period = period.slice(0, 4) + `-${String(month).padStart(2, "0")}-${days}`;
  }

  return period + "0000-01-01T23:59:59.999999999Z".slice(period.length);
}

/** Whether all values are given: undefined and empty texts are not. */
function given(...values) {
  return values.every((v) => v !== undefined && v !== "");
}

/** Whether a value of a field is <, <=, > or >= a bound. One that is not of its type is not. */
function compares(t, value, op, bound) {
  try {
    const order = t.compare(textOf(value), bound);
    return { "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0 }[op];
  } catch (e) {
    if (e instanceof InvalidKeyError) return false;
    throw e;
  }
}

/** Whether a value of a field is one of some values, compared by a type or as text. */
function oneOf(t, value, values) {
  if (t === null) return values.includes(textOf(value));
  return values.some((other) => {
    try {
      return t.compare(textOf(value), other) === 0;
    } catch (e) {
      if (e instanceof InvalidKeyError) return false;
      throw e;
    }
  });
}

function S(text) {
  return { S: text };
}

function N(text) {
  return { N: text };
}

function B(text) {
  return { B: encoder.encode(text) };
}

/** The condition that an attribute is in a range. */
function inRange(attribute, r, value) {
  const is = (op, ...operands) => ({ attribute, op, operands: operands.map(value) });
  if (r.prefix) return is("begins_with", r.prefix);
  if (!r.low && !r.high) return is("");
  if (!r.high) return is(">=", r.low);
  if (!r.low) return is("<=", r.high);
  return r.low === r.high ? is("=", r.low) : is("BETWEEN", r.low, r.high);
}

/** Adds key conditions to a query, with their own placeholders. */
function query(request, ...conditions) {
  const names = { ...request.ExpressionAttributeNames },
    values = { ...request.ExpressionAttributeValues };
  const clauses = [];
  for (const [i, c] of conditions.entries()) {
    if (!c.op) continue;
    const name = `#key${i}`;
    names[name] = c.attribute;
    const [a, b] = c.operands.map((v, j) => {
      values[`:key${i}_${j}`] = v;
      return `:key${i}_${j}`;
    });
    if (c.op === "begins_with") clauses.push(`begins_with(${name}, ${a})`);
    else clauses.push(c.op === "BETWEEN" ? `${name} BETWEEN ${a} AND ${b}` : `${name} ${c.op} ${a}`);
  }

  return {
    ...request,
    KeyConditionExpression: clauses.join(" AND "),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}

module.exports = {
  InvalidKeyError,
  KeyType,
  Excluding,
  Template,
  textOf,
  moment,
  given,
  compares,
  oneOf,
  S,
  N,
  B,
  inRange,
  query,
};
