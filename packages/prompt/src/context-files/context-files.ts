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
  /** The folder that is worked in. */
  readonly workspace: string;
  /**
   * The outermost folder that is looked into; it holds the workspace.
   *
   * @defaultValue the nearest folder from the workspace upwards that holds `.git` and has the same owner, else the workspace
   */
  readonly root?: string | undefined;
  /**
   * The files to look for, in each folder: names, or paths from it with `/`. Case makes no difference.
   *
   * @defaultValue `contextFileNames`
   */
  readonly names?: readonly string[] | undefined;
  /**
   * Where files belong, by name.
   *
   * @defaultValue `MEMORY.md` is volatile, `BOOTSTRAP.md` is sent once, all others belong to the session
   */
  readonly tiers?: Readonly<Record<string, NonNullable<FoundSection['tier']>>> | undefined;
  /**
   * How much of a file is used, in characters. The rest is cut off with a visible note.
   *
   * @defaultValue `20000`, about 5,000 tokens, as other harnesses have it
   */
  readonly maxChars?: number | undefined;
  /**
   * How much of all files together is used, in characters; those that come last give way.
   *
   * @defaultValue `60000`
   */
  readonly maxTotalChars?: number | undefined;
  /** Looks at each file before it is used. */
  readonly scan?: ContextScan | undefined;
}

/** Below so many characters the rest of a file is not worth showing. */
const leastRest = 200;

const aName: OptionCheck = {
  expected: 'a name or a path below a folder, with "/" between its parts and without ".."',
  accepts: (value) => isName(value),
};

const checks: OptionChecks<ContextFilesOptions> = {
  workspace: required({ ...nonEmptyString, expected: 'the path of a folder' }),
  root: { ...nonEmptyString, expected: 'the path of a folder' },
  names: arrayOf(aName),
  tiers: recordOf(oneOf('session', 'volatile', 'bootstrap')),
  maxChars: integerFrom(leastRest),
  maxTotalChars: integerFrom(leastRest),
  scan: anyFunction,
};

const standardTiers: NonNullable<ContextFilesOptions['tiers']> = {
  'memory.md': 'volatile',
  'bootstrap.md': 'bootstrap',
};

/**
 * Finds the files in which people tell agents about themselves and their project, from the workspace up.
 *
 * Their order is fixed ({@link sortContextFiles}); line ends and trailing space make no difference; a file that says the
 * same as one before it is left out, as is an empty one. Files are read again only after they have changed.
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
      const found = await findFiles(searched, names);
      const all = await Promise.all(found.map((file) => read(file, searched.root)));
      files = new Map(all.map((file) => [file.location, file]));
      return compose(sortContextFiles(all), tiers, maxTotalChars);
    },
  };
};

interface ReadFile extends FoundFile {
  readonly source: KnownFile;
  /** What is used of it; empty when nothing is. */
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
    ? `It has ${normalized.length} characters; ${maxChars} are used.`
    : `It is long; ${maxChars} characters are used.`;
  return {
    text: cutFile(normalized, path, maxChars, result.isWhole),
    problems: [...problems, { code: 'shortened', message, path }],
  };
};

const cutFile = (text: string, path: string, maxChars: number, isWhole: boolean): string => {
  const hint = `read ${path} for the rest`;
  if (isWhole || text.length > maxChars) return shorten(text, maxChars, hint);
  return `${text}\n\n[Cut here: the file goes on; ${hint}.]`;
};

/** The files as sections, within the limit for all. */
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
        : room < leastRest
          ? '[Left out: the files before it take up all room.]'
          : shorten(text, room, `read ${path} for the rest`);
    if (kept !== text) {
      problems.push({ code: 'shortened', message: `All files together may take ${maxTotalChars} characters.`, path });
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

/** A tag of ours at the end or beginning of which a file could leave its place. */
const ownTags = /<(?=\s*(?:\/\s*)?context-file\b)/gi;

const enclosed = (path: string, text: string): string =>
  `<context-file path="${path.replaceAll('"', '&quot;')}">\n${text.replace(ownTags, '&lt;')}\n</context-file>`;

const isName = (name: unknown): boolean =>
  typeof name === 'string' &&
  name !== '' &&
  !/[\\\0:"<>\n]/.test(name) &&
  name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
