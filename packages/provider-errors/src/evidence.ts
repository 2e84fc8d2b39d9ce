import { readJsonIn, withoutEscapes } from './nested-json.js';
import { readText } from './text-evidence.js';

/** Everything an error says, gathered from all of its layers. */
export interface Evidence {
  /** The status of the outermost layer that has one, else the first that a message names; a 4xx that a 5xx quotes. */
  readonly status: number | undefined;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Codes, types and names, normalized by {@link normalizeCode}. */
  readonly codes: ReadonlySet<string>;
  /** Values of members that state a time. */
  readonly times: ReadonlyMap<string, string | number>;
  /** The sentences, one message a line. */
  readonly text: string;
}

const maxDepth = 20;
const maxNodes = 2_000;
const maxTextLength = 16_384;
/** Long strings count as several members, so that the number of members limits all the work. */
const charactersPerNode = 1_024;
const maxCodes = 500;

/** `rate_limit_exceeded`, `RateLimitExceeded` and `rate-limit.exceeded` are the same code. */
export const normalizeCode = (code: string): string => code.toLowerCase().replaceAll(/[^a-z\d:]/g, '');

/** Members that never state the cause: they are large, or they quote what was sent. */
const skipped: ReadonlySet<string> = new Set([
  'stack',
  'request',
  'requestbodyvalues',
  'requestbody',
  'config',
  'options',
  'url',
  'links',
  'messages',
  'tools',
  'input',
  'prompt',
  'contents',
  'flagged_input',
  'failed_generation',
  'content_filter_result',
  'content_filter_results',
  'param',
  'locale',
]);
const codeMembers: ReadonlySet<string> = new Set([
  'code',
  'type',
  'name',
  'status',
  'reason',
  '__type',
  'error_code',
  'errorcode',
  'error_type',
  'errortype',
  '@type',
  'rate_limit_type',
]);
const statusMembers: ReadonlySet<string> = new Set([
  'status',
  'statuscode',
  'status_code',
  'httpstatuscode',
  'http_status',
  'httpstatus',
  'raw_status_code',
  'code',
  'error_code',
]);
const headerMembers: ReadonlySet<string> = new Set(['headers', 'responseheaders', 'response_headers']);
const timeMembers: ReadonlySet<string> = new Set([
  'retrydelay',
  'retry_delay',
  'retryafter',
  'retry_after',
  'retry_after_seconds',
  'retryafterms',
  'retry_after_ms',
  'quotaresetdelay',
  'quotaresettimestamp',
  'estimated_time',
  'resets_in_seconds',
  'resets_at',
  'reset_at',
]);
/** Members of an `Error` that are not enumerable, and members that SDKs add to it. */
const errorMembers: readonly string[] = ['name', 'message', 'code', 'cause', 'errors', 'lastError'];
const responseMembers: readonly string[] = ['status', 'headers'];

/**
 * Reads an error of any shape: the data of a turn, an SDK's error, a provider's body, a string, each inside the other.
 *
 * The outermost status counts, unless a gateway reports the refusal of a provider as its own failure; codes and
 * sentences count in all layers.
 */
export const evidenceOf = (error: unknown): Evidence => {
  const gathering = new Gathering();
  gathering.add('message', error, 0);
  return gathering;
};

class Gathering implements Evidence {
  readonly headers = new Map<string, string>();
  readonly codes = new Set<string>();
  readonly times = new Map<string, string | number>();
  text = '';
  readonly #stated: number[] = [];
  #mentioned: number | undefined;
  #nodes = 0;
  readonly #seen = new Set<unknown>();

  get status(): number | undefined {
    const outermost = this.#stated[0] ?? this.#mentioned;
    if (outermost === undefined || outermost < 500) return outermost;
    // The gateway has failed because the provider has refused the request.
    return [...this.#stated, this.#mentioned].find((status) => status !== undefined && status < 500) ?? outermost;
  }

  add(name: string, value: unknown, depth: number): void {
    this.#nodes += 1;
    if (depth > maxDepth || this.#nodes > maxNodes || value === null || value === undefined) return;
    if (typeof value === 'string') this.#addString(name, value, depth);
    else if (typeof value === 'number') this.#addNumber(name, value);
    else if (typeof value === 'object') {
      try {
        this.#addObject(name, value, depth);
      } catch {
        // A revoked proxy throws whenever it is looked at, and says nothing.
      }
    }
  }

  #addObject(name: string, value: object, depth: number): void {
    if (this.#seen.has(value)) return;
    this.#seen.add(value);
    if (headerMembers.has(name)) {
      this.#addHeaders(value);
      return;
    }
    if (Array.isArray(value)) {
      for (const item of value as readonly unknown[]) {
        if (this.#nodes > maxNodes) return;
        this.add(name, item, depth + 1);
      }
      return;
    }
    // gRPC clients decode a duration as its seconds and billionths.
    const seconds = timeMembers.has(name) ? read(value, 'seconds') : undefined;
    if (seconds !== undefined) this.times.set(name, Number(seconds) + Number(read(value, 'nanos') ?? 0) / 1e9);
    const bytes = bytesOf(value);
    if (bytes !== undefined) {
      this.add(name, new TextDecoder().decode(bytes.subarray(0, maxTextLength)), depth + 1);
      return;
    }
    // The outermost layer that has a status decides it, so all plain members of a layer come before the next layer.
    const members = membersOf(value).map(([key, member]) => [key.toLowerCase(), member] as const);
    for (const [key, member] of members) {
      if (typeof member !== 'object' && !skipped.has(key)) this.add(key, member, depth + 1);
    }
    for (const [key, member] of members) {
      if (typeof member === 'object' && !skipped.has(key)) this.add(key, member, depth + 1);
    }
  }

  #addHeaders(value: object): void {
    for (const [name, given] of headerEntries(value)) {
      const key = String(name).toLowerCase();
      if ((typeof given === 'string' || typeof given === 'number') && !this.headers.has(key)) {
        this.headers.set(key, String(given));
      }
      if (key === 'x-amzn-errortype') this.#addCode(String(given));
    }
  }

  #addString(name: string, value: string, depth: number): void {
    if (timeMembers.has(name)) this.times.set(name, value);
    if (statusMembers.has(name) && /^[45]\d\d$/.test(value)) this.#stated.push(Number(value));
    if (codeMembers.has(name)) {
      this.#addCode(value);
      if (value.includes(' ')) this.#addText(value);
      return;
    }
    this.#nodes += Math.floor(value.length / charactersPerNode);
    const { values, rest } = readJsonIn(value);
    for (const nested of values) this.add(name, nested, depth + 1);
    const isEscaped = values.length === 0 && /\\(?:"|u00)/.test(value);
    if (isEscaped) this.add(name, withoutEscapes(value.slice(0, maxTextLength)), depth + 1);
    else this.#addText(rest);
  }

  #addNumber(name: string, value: number): void {
    if (timeMembers.has(name)) this.times.set(name, value);
    if (!statusMembers.has(name) && name !== 'errno') return;
    if (value >= 400 && value < 600 && Number.isInteger(value)) this.#stated.push(value);
    // MiniMax numbers its errors under `status_code`, Z.ai under `code`, and the same numbers mean different things.
    else this.#addCode(name === 'status_code' ? `status:${value}` : String(value));
  }

  #addText(value: string): void {
    const { status, codes, mentions, text } = readText(value);
    this.#mentioned ??= status;
    for (const code of [...codes, ...mentions]) this.#addCode(code);
    if (this.text.length < maxTextLength && !this.text.includes(text)) {
      this.text += `${text}\n`.slice(0, maxTextLength - this.text.length);
    }
  }

  /** AWS writes `com.amazon.coral#Name`, and `Name:http://…` in a header. A sentence under the name of a code is no code. */
  #addCode(value: string): void {
    if (value.length > 200 || value.trim().includes(' ') || this.codes.size >= maxCodes) return;
    const word = /^(?:[^#\s]*#)?(status:\d+|[\w.\-/]+)/.exec(value.trim())?.[1] ?? '';
    const code = normalizeCode(word);
    if (code !== '') this.codes.add(code);
  }
}

const headerEntries = (value: object): readonly (readonly [unknown, unknown])[] => {
  if (value instanceof Headers || value instanceof Map) return [...(value as Iterable<[unknown, unknown]>)];
  return Object.entries(value);
};

/** A body that was read as bytes, or such a body after `JSON.stringify`. */
const bytesOf = (value: object): Uint8Array | undefined => {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  const data = read(value, 'type') === 'Buffer' ? read(value, 'data') : undefined;
  return Array.isArray(data) ? Uint8Array.from(data.slice(0, maxTextLength) as number[]) : undefined;
};

const membersOf = (value: object): readonly (readonly [string, unknown])[] => {
  // Some clients define members of their errors as accessors that are not enumerable.
  const own = value instanceof Error ? Object.getOwnPropertyNames(value) : Object.keys(value);
  const inherited = value instanceof Error ? errorMembers : value instanceof Response ? responseMembers : [];
  const keys = [...inherited.filter((key) => !own.includes(key)), ...own];
  // The errors of earlier attempts do not count.
  return keys
    .filter((key) => key !== 'errors' || !own.includes('lastError'))
    .map((key) => [key, read(value, key)] as const);
};

/** An accessor that throws counts as absent. */
const read = (value: object, key: string): unknown => {
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
};
