import {
  anyFunction,
  nonEmptyString,
  checkOptions,
  arrayOf,
  oneOf,
  recordOf,
  required,
  integerFrom,
  type OptionCheck,
  type OptionChecks,
} from '@h/options';
import { hashText } from '../hash.js';
import { normalizeText } from '../normalize.js';
import type { FoundSection, SectionProblem, SectionSource } from '../sections.js';
import { shorten } from '../shorten.js';
import { findFiles, searchedFolders, type FoundFile } from './find.js';
import { baseName, contextFileNames, sortContextFiles } from './order.js';
import { readInside, type KnownFile } from './read.js';
import { scanned, type ContextScan } from './scan.js';

/** Options of {@link contextFiles}. */
export interface ContextFilesOptions {
  /** The agent's working folder. */
  readonly workspace: string;
  /**
   * The outermost folder to search. It contains the workspace.
   *
   * @defaultValue the nearest ancestor that contains `.git` and has the same owner, else the workspace
   */
  readonly root?: string | undefined;
  /**
   * The files to find in each folder: names, or relative paths with `/`. Not case-sensitive.
   *
   * @defaultValue `contextFileNames`
   */
  readonly names?: readonly string[] | undefined;
  /**
   * Tiers of files, by name.
   *
   * @defaultValue `MEMORY.md` is volatile, `BOOTSTRAP.md` is bootstrap, all others are session
   */
  readonly tiers?: Readonly<Record<string, NonNullable<FoundSection['tier']>>> | undefined;
  /**
   * Maximum length of a file, in characters. A longer file is truncated with a visible note.
   *
   * @defaultValue `20000`, about 5,000 tokens
   */
  readonly maxChars?: number | undefined;
  /**
   * Maximum length of all files together, in characters. The last files are truncated first.
   *
   * @defaultValue `60000`, about 15,000 tokens
   */
  readonly maxTotalChars?: number | undefined;
  /** Scans each file before it is used. */
  readonly scan?: ContextScan | undefined;
}

/** A shorter remainder of a file is not useful. */
const minLength = 200;

const aName: OptionCheck = {
  expected: 'a name or a path below a folder, with "/" between its parts and without ".."',
  accepts: (value) => isName(value),
};

const checks: OptionChecks<ContextFilesOptions> = {
  workspace: required({ ...nonEmptyString, expected: 'the path of a folder' }),
  root: { ...nonEmptyString, expected: 'the path of a folder' },
  names: arrayOf(aName),
  tiers: recordOf(oneOf('session', 'volatile', 'bootstrap')),
  maxChars: integerFrom(minLength),
  maxTotalChars: integerFrom(minLength),
  scan: anyFunction,
};

const standardTiers: NonNullable<ContextFilesOptions['tiers']> = {
  'memory.md': 'volatile',
  'bootstrap.md': 'bootstrap',
};

/**
 * Loads context files such as AGENTS.md from the workspace and the folders above it.
 *
 * The order is fixed ({@link sortContextFiles}). Line endings and trailing whitespace are normalized; empty and
 * duplicate files are left out. A file is read again only after it has changed.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * prompt({ session: [contextFiles({ workspace: process.cwd(), scan: scanContext })] });
 * ```
 */
export const contextFiles = (options: ContextFilesOptions): SectionSource => {
  checkOptions('contextFiles()', options, checks);
  const { workspace, root, names = contextFileNames, maxChars = 20_000, maxTotalChars = 60_000, scan } = options;
  const tiers = new Map(
    Object.entries({ ...standardTiers, ...options.tiers }).map(([name, tier]) => [name.toLowerCase(), tier]),
  );
  let files = new Map<string, ReadFile>();

  const read = async (found: FoundFile, outermost: string): Promise<ReadFile> => {
    const before = files.get(found.location);
    // A character takes at most four bytes.
    const read = await readInside(found.location, outermost, maxChars * 4, before?.source);
    if (before !== undefined && before.source === read) return before;
    return { ...found, source: read, ...(await usable(found.path, read, maxChars, scan)) };
  };

  return {
    id: 'context-files',
    load: async () => {
      const searched = await searchedFolders(workspace, root);
      const { found, problems } = await findFiles(searched, names);
      const all = await Promise.all(found.map((file) => read(file, searched.root)));
      files = new Map(all.map((file) => [file.location, file]));
      const composed = compose(sortContextFiles(all), tiers, maxTotalChars);
      return { ...composed, problems: [...problems, ...composed.problems] };
    },
  };
};

interface ReadFile extends FoundFile {
  readonly source: KnownFile;
  /** The text to use; may be empty. */
  readonly text: string;
  readonly problems: readonly SectionProblem[];
}

const usable = async (
  path: string,
  { result }: KnownFile,
  maxChars: number,
  scan: ContextScan | undefined,
): Promise<Pick<ReadFile, 'text' | 'problems'>> => {
  if (!result.ok) return { text: '', problems: [{ code: result.code, message: result.message, path }] };
  if (normalizeText(result.text) === '') return { text: '', problems: [] };
  const { text, problem } = await scanned(result.text, path, scan);
  const problems = problem ? [problem] : [];
  const normalized = normalizeText(text);
  if (result.isWhole && normalized.length <= maxChars) return { text: normalized, problems };
  const message = result.isWhole
    ? `The file has ${normalized.length} characters and was truncated to ${maxChars}.`
    : `The file was truncated to ${maxChars} characters.`;
  return {
    text: cutFile(normalized, path, maxChars, result.isWhole),
    problems: [...problems, { code: 'shortened', message, path }],
  };
};

const cutFile = (text: string, path: string, maxChars: number, isWhole: boolean): string => {
  const hint = `read ${path} for the rest`;
  if (isWhole || text.length > maxChars) return shorten(text, maxChars, hint);
  return `${text}\n\n[Truncated; ${hint}.]`;
};

/** Turns the files into sections, within the common limit. */
const compose = (
  files: readonly ReadFile[],
  tiers: ReadonlyMap<string, NonNullable<FoundSection['tier']>>,
  maxTotalChars: number,
): { readonly sections: readonly FoundSection[]; readonly problems: readonly SectionProblem[] } => {
  const sections: FoundSection[] = [];
  const problems: SectionProblem[] = [];
  const seen = new Set<string>();
  let room = maxTotalChars;
  for (const { path, text, problems: own } of files) {
    problems.push(...own);
    const hash = hashText(text);
    if (text === '' || seen.has(hash)) continue;
    seen.add(hash);
    const kept =
      text.length <= room
        ? text
        : room < minLength
          ? '[Omitted: the files before it use the whole limit.]'
          : shorten(text, room, `read ${path} for the rest`);
    if (kept !== text) {
      problems.push({
        code: 'shortened',
        message: `The limit of ${maxTotalChars} characters for all files was reached.`,
        path,
      });
    }
    room = Math.max(0, room - text.length);
    sections.push({
      id: `file:${path}`,
      tier: tiers.get(baseName(path).toLowerCase()) ?? 'session',
      text: enclosed(path, kept),
    });
  }
  return { sections, problems };
};

/** Tags with which a file could close its section or open another. */
const ownTags = /<(?=\s*(?:\/\s*)?context-file\b)/gi;

const enclosed = (path: string, text: string): string =>
  `<context-file path="${path.replaceAll('"', '&quot;')}">\n${text.replace(ownTags, '&lt;')}\n</context-file>`;

const isName = (name: unknown): boolean =>
  typeof name === 'string' &&
  name !== '' &&
  !/[\\\0:"<>\n]/.test(name) &&
  name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
