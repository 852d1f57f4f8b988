/**
 * Composite keys whose byte order is the order of their values, for code that sortkey design gen writes.
 *
 * A Template builds keys from values and parses them; it refuses a value that would break the key, such as one with
 * the delimiter that follows it. The functions at the end make items and the requests of queries of such keys, in the
 * form of the client of the SDK, whose numbers are texts, so that no digit is lost.
 */
import type { AttributeValue, QueryCommandInput } from "@aws-sdk/client-dynamodb";
export type {
  AttributeValue,
  GetItemCommandInput,
  QueryCommandInput,
  ScanCommandInput,
} from "@aws-sdk/client-dynamodb";

/** A time: a text such as 2026-01-05T10:00:00Z or 2026-01-05, or a Date. */
export type Time = string | Date;

/** A value in a key. A number must be a safe integer; pass a decimal as a string. */
export type Value = string | number | bigint | Date;

/** A bound of a range: a value, one that does not belong to the range, or null for none. */
export type Bound = Value | Excluding | null | undefined;

/** An item or a key in the form of the client, such as { n: { N: "7" } }. */
export type Item = Record<string, AttributeValue>;

/** A value or a key that a template refuses. Members that do not apply are empty. */
export declare class InvalidKeyError extends Error {
  readonly msg: string;
  readonly advice: string;
  template: string;
  component: string;
  constructor(msg: string, advice?: string, template?: string, component?: string);
  /** Adds the template and the component to the error. */
  at(template: string, component: string): this;
}

/** How the value of a component becomes a part of a key. */
export declare class KeyType {
  readonly name: string;
  readonly width: number;
  readonly scale: number;
  readonly values: readonly string[];
  readonly desc: boolean;
  constructor(
    name: string,
    of?: {
      width?: number;
      scale?: number;
      values?: readonly string[];
      desc?: boolean;
    },
  );
  toString(): string;
  /** The number of bytes of every part, or 0 if it varies. */
  fixed(): number;
  /** Whether the byte order of parts is the order of the values. */
  ordered(): boolean;
  /** The canonical text form of a value. */
  canonical(text: string): string;
  /** The part of a key for a value in text form. */
  encode(text: string): string;
  /** The value of a part of a key, in canonical text form. */
  decode(part: string): string;
  /** The common beginning of the parts of all values that begin with partial. */
  encodePrefix(partial: string): string;
  /** -1, 0 or 1 in the order that the keys of two values should have. */
  compare(a: string, b: string): number;
}

/** A component of a template, or literal text if it has no name. */
export interface Part {
  readonly literal?: string;
  readonly name?: string;
  readonly type?: KeyType;
}

/** A contiguous interval of keys, both ends included; "" means no bound. */
export interface KeyRange {
  readonly low: string;
  readonly high: string;
  /** The common prefix of all keys, if the range is exactly the keys with that prefix. */
  readonly prefix: string;
}

/** A bound that does not belong to its range. */
export declare class Excluding {
  readonly value: Value | undefined;
  constructor(value: Value | undefined);
}

/** Builds keys from values and parses keys. */
export declare class Template {
  readonly source: string;
  constructor(source: string, parts: readonly Part[]);
  /** The key of values, one for each component in order. */
  format(...values: (Value | undefined)[]): string;
  /** The common prefix of all keys with these first components, with the text after the last. */
  prefix(...values: (Value | undefined)[]): string;
  /** The values in a key, in canonical text form and in the order of the components. */
  values(key: string): string[];
  /** The range of the keys with these first components. */
  under(...values: (Value | undefined)[]): KeyRange;
  /** The range of the keys whose next component begins with partial. */
  beginsWith(partial: Value | undefined, ...outer: (Value | undefined)[]): KeyRange;
  /** The range of the keys whose next component is between two values; null means no bound. */
  between(low: Bound, high: Bound, ...outer: (Value | undefined)[]): KeyRange;
}

/** The text form of a value. */
export declare function textOf(value: Value | undefined): string;

/** The first or the last moment of the period of a time: of the day of a time, or of the day 2026-01-05. */
export declare function moment(
  value: Value | undefined,
  unit: "year" | "month" | "day" | "hour" | "minute",
  last: boolean,
): string;

/** Whether all values are given: undefined and empty texts are not. */
export declare function given(...values: (Value | undefined)[]): boolean;

/** Whether a value of a field is <, <=, > or >= a bound. One that is not of its type is not. */
export declare function compares(
  t: KeyType,
  value: Value | undefined,
  op: "<" | "<=" | ">" | ">=",
  bound: string,
): boolean;

/** Whether a value of a field is one of some values, compared by a type or as text. */
export declare function oneOf(t: KeyType | null, value: Value | undefined, values: readonly string[]): boolean;

export declare function S(text: string): AttributeValue;

export declare function N(text: string): AttributeValue;

export declare function B(text: string): AttributeValue;

/** The condition that an attribute is in a range. */
export declare function inRange(attribute: string, r: KeyRange, value: (text: string) => AttributeValue): Condition;

/** A condition on a key attribute; it has no operator if it matches every key. */
export interface Condition {
  attribute: string;
  op: string;
  operands: AttributeValue[];
}

/** Adds key conditions to a query, with their own placeholders. */
export declare function query(request: QueryCommandInput, ...conditions: Condition[]): QueryCommandInput;
