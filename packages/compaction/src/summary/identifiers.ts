/** The kind of an identifier. */
export type IdentifierKind = 'url' | 'uuid' | 'hash' | 'ip' | 'host' | 'path' | 'env' | 'id' | 'number' | 'progress';

/** A string that is only useful verbatim. */
export interface Identifier {
  readonly kind: IdentifierKind;
  readonly value: string;
}

/** An identifier with its importance. */
export interface RankedIdentifier extends Identifier {
  readonly weight: number;
}

/** Longer runs are data (base64, minified code), not names. */
const maxLength = 500;

/**
 * Finds strings that must not be paraphrased: URLs, UUIDs, hashes, IP addresses and ports, hosts, paths and file names,
 * values of environment variables, ids and long numbers, and the progress of batches (`17 of 43`).
 *
 * Each is found once. Of a batch, identified by its total, only the latest count is returned. Time is linear in the
 * length of the text.
 */
export const extractIdentifiers = (text: string): readonly Identifier[] => {
  const found = new Map<string, Identifier>();
  for (const [run] of text.matchAll(/[^\s"'`<>()[\]{}|,;]+/g)) {
    if (run.length > maxLength) continue;
    for (const identifier of identifiersOf(run)) {
      if (!found.has(identifier.value)) found.set(identifier.value, identifier);
    }
  }
  for (const identifier of progressOf(text)) found.set(identifier.value, identifier);
  return [...found.values()];
};

/** Returns the identifiers that the text does not contain verbatim as a whole (`/a/b` is not in `/a/bc`). */
export const missingIdentifiers = <Found extends Identifier>(
  identifiers: readonly Found[],
  text: string,
): readonly Found[] => identifiers.filter(({ value }) => !hasWhole(text, value));

const hasWhole = (text: string, value: string): boolean => {
  for (let place = text.indexOf(value); place >= 0; place = text.indexOf(value, place + 1)) {
    const isCutBefore = isWordCharacter(value, 0) && isWordCharacter(text, place - 1);
    const isCutAfter = isWordCharacter(value, value.length - 1) && isWordCharacter(text, place + value.length);
    if (!isCutBefore && !isCutAfter) return true;
  }
  return false;
};

const isWordCharacter = (text: string, index: number): boolean => /\w/.test(text.charAt(index));

const identifiersOf = (run: string): readonly Identifier[] => {
  const value = trimmed(run);
  const kind = kindOf(value);
  if (kind !== undefined) return [{ kind, value }];
  // `--out=/tmp/x`, `path:/tmp/x`
  const cut = value.search(/[=:]/);
  if (cut < 1) return [];
  const rest = trimmed(value.slice(cut + 1));
  const restKind = kindOf(rest);
  return restKind === undefined ? [] : [{ kind: restKind, value: rest }];
};

const trimmed = (run: string): string => {
  let start = 0;
  let end = run.length;
  while (end > start && '.:!?*…\\'.includes(run.charAt(end - 1))) end -= 1;
  while (start < end && '*:=!?@…\\'.includes(run.charAt(start))) start += 1;
  return run.slice(start, end);
};

const kinds: readonly (readonly [kind: IdentifierKind, test: (value: string) => boolean])[] = [
  ['url', (value) => /^[a-z][a-z0-9+.-]{1,15}:\/\/./i.test(value)],
  ['uuid', (value) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(value)],
  ['ip', (value) => /^(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5}|\/\d{1,2})?$/.test(value) || isIPv6(value)],
  ['env', (value) => /^[A-Z][A-Z0-9_]+=./.test(value)],
  ['hash', (value) => /^(?:sha\d{1,3}[:-])?[0-9a-f]{7,128}$/i.test(value) && /\d/.test(value) && /[a-f]/i.test(value)],
  ['path', (value) => isPath(value)],
  ['host', (value) => isHost(value)],
  ['number', (value) => /^\d{6,}$/.test(value)],
  ['id', (value) => isId(value)],
];

const kindOf = (value: string): IdentifierKind | undefined =>
  value.length < 2 ? undefined : kinds.find(([, test]) => test(value))?.[0];

const isIPv6 = (value: string): boolean =>
  /^[0-9a-f:]{3,39}$/i.test(value) &&
  (value.includes('::') || value.split(':').length === 8) &&
  /[0-9a-f]/i.test(value);

const extensions =
  /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kts?|swift|c|h|cc|cpp|hpp|cs|php|lua|sh|bash|zsh|ps1|sql|html?|s?css|less|vue|svelte|json[lc5]?|ya?ml|toml|ini|cfg|conf|env|lock|md|mdx|txt|csv|tsv|log|xml|svg|png|jpe?g|gif|webp|pdf|docx?|xlsx?|zip|gz|tgz|tar|wasm|ipynb|proto|graphql|tf|patch|diff|snap)$/i;

const isPath = (given: string): boolean => {
  const value = given.replace(/(?::\d{1,7}){1,2}$/, '');
  if (/^[A-Za-z]:\\./.test(value)) return true;
  if (!/^[\w@.~+\-/\\%$]+$/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^(?:\.{1,2}|~)?\/[^/]/.test(value)) return true;
  if (/^[\w@.-]+(?:\/[\w@.+-]+){2,}\/?$/.test(value)) return true;
  return extensions.test(value) && /\w\.\w+$/.test(value);
};

const domains =
  /\.(?:com|net|org|edu|gov|io|dev|app|ai|co|cloud|local|internal|lan|localhost|test|example|invalid|info|eu|uk|de|fr|jp|cn|ru|us)$/i;

const isHost = (value: string): boolean => {
  const [, name = '', port] = /^([a-z0-9.-]+?)(?::(\d{1,5}))?$/i.exec(value) ?? [];
  if (name === 'localhost') return port !== undefined;
  if (!/^(?:[a-z0-9](?:[a-z0-9-]{0,62})\.)+[a-z]{2,24}$/i.test(name)) return false;
  return (
    domains.test(name) ||
    (name.split('.').length >= 3 && !extensions.test(name) && (port !== undefined || /[-\d]/.test(name)))
  );
};

/** Tickets, issue numbers, and words with several digits among their letters. */
const isId = (value: string): boolean => {
  if (/^#\d{2,}$/.test(value) || /^[A-Z][A-Z0-9]{1,9}-\d+$/.test(value)) return true;
  return /^[\w-]{6,128}$/.test(value) && /[A-Za-z]/.test(value) && (value.match(/\d/g)?.length ?? 0) >= 3;
};

const progressOf = (text: string): readonly Identifier[] => {
  const latest = new Map<string, string>();
  for (const [value, , total = ''] of text.matchAll(
    /(?<![\d./:-])(\d{1,7}) ?(?:of|out of|\/) ?(\d{1,7})(?![\d/:-]|\.\d)/g,
  )) {
    latest.delete(total);
    latest.set(total, value);
  }
  return [...latest.values()].map((value) => ({ kind: 'progress', value }));
};
