import { nearestName } from '@h/options';
import { isMap, isNode, LineCounter, parseDocument, type Document } from 'yaml';
import type * as z from 'zod';
import { ConfigError, type ConfigProblem } from './config-error.js';
import { keysAt } from './schema-keys.js';

/** The keys and indexes that lead to a value. */
export type ConfigPath = readonly PropertyKey[];

/** A parsed file that knows where its values are. */
export interface ConfigFile {
  readonly file: string;
  /** The content; `{}` for an empty file. */
  readonly value: unknown;
  /**
   * Checks the content and applies the defaults of the schema.
   *
   * @param value the content after changes, such as replaced variables; its paths are those of the file
   * @throws ConfigError with all problems
   */
  check<Schema extends z.ZodType>(schema: Schema, value?: unknown): z.output<Schema>;
  /** Describes a problem at a path. An absent key has the position of the nearest key above it. */
  problem(path: ConfigPath, message: string): ConfigProblem;
}

/** A Markdown file that starts with YAML between two lines `---`. */
export interface Frontmatter {
  readonly config: ConfigFile;
  /** The text after the frontmatter, without white space around it. */
  readonly body: string;
}

/** Aliases repeat values; a few nested ones expand to gigabytes. */
const maxAliases = 10;

/**
 * Parses YAML or JSON.
 *
 * @param file the name in problems
 * @throws ConfigError for a syntax error or a duplicate key
 *
 * @example
 * ```ts
 * const { port } = parseConfig('port: 80', 'app.yaml').check(z.strictObject({ port: z.number() }));
 * ```
 */
export const parseConfig = (text: string, file: string): ConfigFile => parseFrom(text, file, 1);

/**
 * Parses a Markdown file with frontmatter.
 *
 * @param file the name in problems
 * @throws ConfigError if the frontmatter is missing, is not closed or is not valid YAML
 */
export const parseFrontmatter = (text: string, file: string): Frontmatter => {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|[\r\n]/);
  const fail = (message: string): never => {
    throw new ConfigError([{ file, line: 1, column: 1, key: '', message }]);
  };
  if (!/^---[ \t]*$/.test(lines[0] ?? '')) fail('the file must start with frontmatter between two lines "---".');
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  if (end === -1) fail('the frontmatter is not closed. Add a line "---" after it.');
  return {
    config: parseFrom(lines.slice(1, end).join('\n'), file, 2),
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  };
};

/** @param firstLine the line of the file at which the text begins */
const parseFrom = (text: string, file: string, firstLine: number): ConfigFile => {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true, logLevel: 'silent' });
  const at = (offset: number): Pick<ConfigProblem, 'line' | 'column'> => {
    const { line, col } = counter.linePos(offset);
    return { line: Math.max(1, line) + firstLine - 1, column: Math.max(1, col) };
  };
  if (document.errors.length > 0) {
    throw new ConfigError(
      document.errors.map(({ pos, message }) => ({ file, ...at(pos[0]), key: '', message: firstOf(message) })),
      { cause: document.errors[0] },
    );
  }
  const problem = (path: ConfigPath, message: string): ConfigProblem => ({
    file,
    ...at(offsetOf(document, path)),
    key: keyOf(path),
    message,
  });
  const value = valueOf(document, (message) => problem([], message));
  return {
    file,
    value,
    problem,
    check: (schema, given = value) => {
      const parsed = schema.safeParse(given);
      if (parsed.success) return parsed.data;
      const problems = parsed.error.issues.flatMap((issue) =>
        describeIssue(issue, [], schema).map(({ path, message }) => problem(path, message)),
      );
      throw new ConfigError(problems, { cause: parsed.error });
    },
  };
};

const valueOf = (document: Document, problem: (message: string) => ConfigProblem): unknown => {
  try {
    return (document.toJS({ maxAliasCount: maxAliases }) as unknown) ?? {};
  } catch (error) {
    throw new ConfigError([problem(`${firstOf((error as Error).message)}.`)], { cause: error });
  }
};

const firstOf = (message: string): string => (message.split('\n')[0] ?? message).replace(/ at line \d+.*$/, '.');

const keyOf = (path: ConfigPath): string => path.map(String).join('.');

/** The offset of a key, or of the nearest one above it. */
const offsetOf = (document: Document, path: ConfigPath): number => {
  for (let length = path.length; length > 0; length -= 1) {
    const key = path[length - 1];
    const parent: unknown = document.getIn(path.slice(0, length - 1), true);
    const pair = isMap(parent) ? parent.items.find((item) => String(item.key) === String(key)) : undefined;
    const node: unknown = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return isNode(document.contents) ? (document.contents.range?.[0] ?? 0) : 0;
};

interface Description {
  readonly path: ConfigPath;
  readonly message: string;
}

const describeIssue = (issue: z.core.$ZodIssue, above: ConfigPath, schema: z.ZodType): readonly Description[] => {
  const path = [...above, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = keysAt(schema, path);
      return issue.keys.map((key) => {
        const near = nearestName(key, known);
        const hint = near === undefined ? `Known keys: ${known.join(', ')}.` : `Did you mean ${JSON.stringify(near)}?`;
        return { path: [...path, key], message: `unknown key ${JSON.stringify(keyOf([...path, key]))}. ${hint}` };
      });
    }
    case 'invalid_union': {
      // The branch of the same type as the value is the one that was meant.
      const meant = issue.errors.find((issues) => issues.every((one) => one.path.length > 0 || !isOtherType(one)));
      if (meant !== undefined && meant.length > 0) return meant.flatMap((one) => describeIssue(one, path, schema));
      // A discriminator that no branch has: the message names those that exist.
      if (issue.errors.length === 0) return [invalid(path, issue.message)];
      const expected = new Set(issue.errors.flat().map(({ message }) => message.replace(/^Invalid input: /, '')));
      return [invalid(path, [...expected].join(', or '))];
    }
    case 'invalid_key':
      return [invalid(path, issue.issues.map(({ message }) => message).join(', or '))];
    default:
      return [invalid(path, issue.message)];
  }
};

const invalid = (path: ConfigPath, problem: string): Description => {
  const key = keyOf(path);
  const subject = key === '' ? 'the content' : JSON.stringify(key);
  return { path, message: `${subject} is invalid: ${problem.replace(/\.$/, '')}.` };
};

const isOtherType = ({ code }: z.core.$ZodIssue): boolean => code === 'invalid_type' || code === 'invalid_value';
