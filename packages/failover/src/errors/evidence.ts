import { readJsonIn } from './nested-json.js';

/** What an error says, gathered from wherever it says it. */
export interface Evidence {
  readonly status: number | undefined;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Words for machines: codes, types, names; in lower case. */
  readonly codes: ReadonlySet<string>;
  /** Numbers and texts under a name that tells a time. */
  readonly times: ReadonlyMap<string, string | number>;
  /** Sentences for people. */
  readonly text: string;
}

const maxDepth = 12;
const maxNodes = 2_000;
const maxTextLength = 16_384;

/** Members that never say why a call failed: they are large, or quote what was sent. */
const skipped: ReadonlySet<string> = new Set([
  'stack',
  'request',
  'requestbodyvalues',
  'config',
  'url',
  'links',
  'flagged_input',
  'content_filter_result',
  'param',
  'locale',
]);
const codeNames: ReadonlySet<string> = new Set([
  'code',
  'type',
  'name',
  'status',
  'reason',
  '__type',
  'error_code',
  '@type',
  'rate_limit_type',
]);
const statusNames: ReadonlySet<string> = new Set([
  'status',
  'statuscode',
  'httpstatuscode',
  'http_status',
  'raw_status_code',
  'code',
]);
const headerNames: ReadonlySet<string> = new Set(['headers', 'responseheaders']);
const timeNames: ReadonlySet<string> = new Set([
  'retrydelay',
  'retry_after',
  'retry_after_seconds',
  'retry_after_ms',
  'resets_in_seconds',
  'resets_at',
  'reset_at',
]);
/** Members of an `Error` that are not enumerable, or that SDKs hang on it. */
const errorMembers = ['name', 'message', 'code', 'cause', 'errors', 'lastError'] as const;

/**
 * Reads an error of any make: plain data of a turn, an SDK's error, a provider's body, a text, each in the other.
 *
 * The outermost status counts, for a gateway's answer may quote another one; the codes and sentences of all layers do.
 */
export const evidenceOf = (error: unknown): Evidence => {
  const gathering = new Gathering();
  gathering.add('', error, 0);
  return gathering;
};

class Gathering implements Evidence {
  status: number | undefined;
  readonly headers = new Map<string, string>();
  readonly codes = new Set<string>();
  readonly times = new Map<string, string | number>();
  text = '';
  #nodes = 0;
  readonly #seen = new Set<unknown>();

  add(name: string, value: unknown, depth: number): void {
    this.#nodes += 1;
    if (depth > maxDepth || this.#nodes > maxNodes || value === null || value === undefined) return;
    if (typeof value === 'string') this.#addText(name, value, depth);
    else if (typeof value === 'number') this.#addNumber(name, value);
    else if (typeof value === 'object') this.#addObject(name, value, depth);
  }

  #addObject(name: string, value: object, depth: number): void {
    if (this.#seen.has(value)) return;
    this.#seen.add(value);
    if (headerNames.has(name)) {
      this.#addHeaders(value);
      return;
    }
    if (Array.isArray(value)) {
      for (const item of value as readonly unknown[]) this.add(name, item, depth + 1);
      return;
    }
    // The status is told by the outermost layer that has one, so all numbers of a layer come before the next layer.
    const members = membersOf(value).map(([key, member]) => [key.toLowerCase(), member] as const);
    for (const [key, member] of members) {
      if (typeof member !== 'object' && !skipped.has(key)) this.add(key, member, depth + 1);
    }
    for (const [key, member] of members) {
      if (typeof member === 'object' && !skipped.has(key)) this.add(key, member, depth + 1);
    }
  }

  #addHeaders(value: object): void {
    const entries =
      value instanceof Headers || value instanceof Map
        ? [...(value as Iterable<[string, unknown]>)]
        : Object.entries(value as Record<string, unknown>);
    for (const [name, given] of entries) {
      const key = name.toLowerCase();
      if ((typeof given === 'string' || typeof given === 'number') && !this.headers.has(key)) {
        this.headers.set(key, String(given));
      }
      if (key === 'x-amzn-errortype') this.#addCode(String(given));
    }
  }

  #addText(name: string, value: string, depth: number): void {
    if (timeNames.has(name)) this.times.set(name, value);
    if (statusNames.has(name) && /^[45]\d\d$/.test(value)) this.status ??= Number(value);
    if (codeNames.has(name)) {
      this.#addCode(value);
      return;
    }
    const nested = readJsonIn(value);
    if (nested !== undefined) this.add(name, nested, depth + 1);
    if (this.text.length < maxTextLength && !this.text.includes(value)) {
      this.text += `${value}\n`.slice(0, maxTextLength - this.text.length);
    }
  }

  #addNumber(name: string, value: number): void {
    if (timeNames.has(name)) this.times.set(name, value);
    if (statusNames.has(name) && value >= 400 && value < 600) this.status ??= value;
  }

  /** AWS writes `com.amazon.coral#Name`, and `Name:http://…` in a header; a sentence under the name of a code is none. */
  #addCode(value: string): void {
    const word = (/^(?:[^#\s]*#)?([\w.\-/]+)/.exec(value)?.[1] ?? '').toLowerCase();
    if (word !== '' && value.length <= 200) this.codes.add(word);
    if (value.includes(' ')) this.text += `${value.slice(0, 500)}\n`;
  }
}

const membersOf = (value: object): readonly (readonly [string, unknown])[] => {
  const own = Object.entries(value);
  if (!(value instanceof Error)) return own;
  const hidden = errorMembers.flatMap((key) =>
    own.some(([name]) => name === key) ? [] : [[key, (value as unknown as Record<string, unknown>)[key]] as const],
  );
  return [...hidden, ...own];
};
