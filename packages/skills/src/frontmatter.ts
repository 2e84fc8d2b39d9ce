import { parseDocument } from 'yaml';

/** A file with frontmatter, taken apart. */
export interface Frontmatter {
  /** What it says, by key. */
  readonly fields: ReadonlyMap<string, unknown>;
  /** What follows it. */
  readonly body: string;
  /** Whether it is no proper YAML and was read line by line. */
  readonly isMended: boolean;
}

/** More than any skill needs, and little enough for a parser of somebody else's input. */
const maxChars = 16_384;

const fence = /^---[ \t]*$/;
const closingFence = /^(?:---|\.\.\.)[ \t]*$/;

/**
 * Takes a file apart into its frontmatter and what follows.
 *
 * Of people's files many are no proper YAML (`description: Use when: …` is the commonest); they are read line by line
 * then. Aliases are refused, because a few of them can stand for gigabytes.
 *
 * @returns nothing where there is no frontmatter, or none that can be read
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
  if (fields) return { fields, body, isMended: false };
  const mended = lineFields(inner);
  return mended.size === 0 ? undefined : { fields: mended, body, isMended: true };
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

/** The lines of the form `key: value`; lines that are indented below one belong to it. */
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
