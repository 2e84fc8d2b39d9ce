import { parseDocument } from 'yaml';

/** A parsed file with frontmatter. */
export interface Frontmatter {
  /** Fields of the frontmatter. */
  readonly fields: ReadonlyMap<string, unknown>;
  /** Text after the frontmatter. */
  readonly body: string;
  /** Whether the frontmatter is invalid YAML and was parsed line by line. */
  readonly isRepaired: boolean;
}

/** Limit for untrusted input to the YAML parser. */
const maxChars = 16_384;

const fence = /^---[ \t]*$/;
const closingFence = /^(?:---|\.\.\.)[ \t]*$/;

/**
 * Parses a file with YAML frontmatter.
 *
 * Invalid YAML is common (`description: Use when: …`) and is parsed line by line. Aliases are rejected, because a few
 * of them can expand to gigabytes.
 *
 * @returns `undefined` if the frontmatter is missing or unreadable
 */
export const parseFrontmatter = (text: string): Frontmatter | undefined => {
  const lines = text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .split('\n');
  if (lines[0] === undefined || !fence.test(lines[0])) return undefined;
  const end = lines.findIndex((line, index) => index > 0 && closingFence.test(line));
  if (end < 0) return undefined;
  const inner = lines.slice(1, end);
  const source = inner.join('\n');
  if (source.length > maxChars) return undefined;
  const body = lines
    .slice(end + 1)
    .join('\n')
    .trim();
  const fields = yamlFields(source);
  if (fields) return { fields, body, isRepaired: false };
  const repaired = lineFields(inner);
  return repaired.size === 0 ? undefined : { fields: repaired, body, isRepaired: true };
};

const yamlFields = (source: string): ReadonlyMap<string, unknown> | undefined => {
  try {
    const document = parseDocument(source, { schema: 'core', prettyErrors: false, logLevel: 'silent' });
    if (document.errors.length > 0) return undefined;
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMapping ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
};

/** Parses lines of the form `key: value` and indented continuation lines. */
const lineFields = (lines: readonly string[]): ReadonlyMap<string, unknown> => {
  const fields = new Map<string, string>();
  let last: string | undefined;
  for (const line of lines) {
    const [, key, value] = /^([A-Za-z_][\w-]*):(.*)$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) {
      last = fields.has(key) ? undefined : key;
      if (last !== undefined) fields.set(key, unquoted(value.trim()));
    } else if (last !== undefined && /^[ \t]+\S/.test(line)) {
      fields.set(last, `${fields.get(last) ?? ''} ${line.trim()}`.trim());
    } else {
      last = undefined;
    }
  }
  return fields;
};

const unquoted = (value: string): string => {
  if (/^[|>][+-]?\d?$/.test(value)) return '';
  const quote = value[0];
  const isQuoted = value.length > 1 && (quote === '"' || quote === "'") && value.endsWith(quote);
  return isQuoted ? value.slice(1, -1) : value;
};
