import { hash } from 'node:crypto';
import { LruMap } from '@h/bounded';
import { createRedactor, type Redactor } from '@h/redact';
import type { ProxyConfig } from './config.js';
import { ConfigError } from './config.js';
import { visitJson, type JsonPath, type TextEdit } from './wire/json-edit.js';

/** Number of texts whose redaction is remembered, because each request repeats those of the request before. */
const maxKnown = 20_000;
/** Shorter texts are redacted faster than they are looked up. */
const minKnownChars = 200;
/** Members of a request whose texts are redacted. */
const roots: ReadonlySet<unknown> = new Set(['messages', 'input', 'system', 'instructions', 'prompt']);
/** Members with tools, of which the texts that a model reads are redacted. Others may be credentials of the provider. */
const toolRoots: ReadonlySet<unknown> = new Set(['tools', 'functions']);
const toolTexts: ReadonlySet<unknown> = new Set(['description', 'input_schema', 'parameters']);
/** Members that the provider compares with its own values. */
const fixed: ReadonlySet<unknown> = new Set([
  'type',
  'role',
  'id',
  'call_id',
  'tool_use_id',
  'tool_call_id',
  'file_id',
  'media_type',
  'signature',
  'thinking',
  'encrypted_content',
]);
/** Members with files: encoded ones, or the text of a document. */
const files: ReadonlySet<unknown> = new Set(['data', 'file_data']);
const encoded = /^(?:data:|[\w+/=\r\n-]*$)/;

/** Replaces secrets in the texts of requests. Equal texts give equal results, so the provider's cache stays valid. */
export class RequestRedactor {
  readonly #redactor: Redactor;
  readonly #known = new LruMap<string, string>(maxKnown);

  private constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Returns `undefined` if the configuration does not request redaction. */
  static from({ redact }: ProxyConfig, env: Readonly<Record<string, string | undefined>>): RequestRedactor | undefined {
    if (redact === false) return undefined;
    const values = (redact === true ? [] : redact.env).map((name) => {
      const value = env[name];
      if (value === undefined || value.length < 6) {
        throw new ConfigError(`redact.env: the variable ${name} is not set, or is shorter than six characters.`);
      }
      return value;
    });
    return new RequestRedactor(createRedactor({ values }));
  }

  /** Returns the edits that redact the text of a request. */
  edits(text: string): readonly TextEdit[] {
    const edits: TextEdit[] = [];
    visitJson(text, (path, { start, end }) => {
      if (!roots.has(path[0]) && !isToolText(path)) return;
      const isObject = text[start] === '{';
      if (isObject ? !isToolInput(path) : text[start] !== '"' || isWithinToolInput(path) || isFixed(path)) return;
      const given: unknown = JSON.parse(text.slice(start, end));
      if (typeof given === 'string' && files.has(lastName(path)) && encoded.test(given)) return;
      const redacted = typeof given === 'string' ? this.#redact(given) : this.#redactor.redactData(given);
      const written = JSON.stringify(redacted);
      // The notation of an unchanged value is preserved.
      if (written !== JSON.stringify(given)) edits.push({ start, end, text: written });
    });
    return edits;
  }

  #redact(text: string): string {
    if (text.length < minKnownChars) return this.#redactor.redact(text);
    const key = hash('sha256', text, 'base64url');
    const known = this.#known.get(key);
    if (known !== undefined) return known === '' ? text : known;
    const redacted = this.#redactor.redact(text);
    // Unchanged texts need no memory.
    this.#known.set(key, redacted === text ? '' : redacted);
    return redacted;
  }
}

/** The input of a tool call of Anthropic, which is an object: `messages[0].content[1].input`. */
const isToolInput = (path: JsonPath): boolean =>
  path.length === 5 && path[0] === 'messages' && path[2] === 'content' && path[4] === 'input';

const isWithinToolInput = (path: JsonPath): boolean => path.length > 5 && isToolInput(path.slice(0, 5));

const isToolText = (path: JsonPath): boolean => toolRoots.has(path[0]) && path.some((key) => toolTexts.has(key));

const lastName = (path: JsonPath): string | number | undefined => path.findLast((key) => typeof key === 'string');

const isFixed = (path: JsonPath): boolean => fixed.has(lastName(path));
