/**
 * Returns the words of a tool name: `mcp__github__create_issue`, `createIssue` and `create-issue` contain `create` and
 * `issue`.
 */
export const wordsOf = (name: string): readonly string[] => (/^[a-z\d]{1,200}$/.test(name) ? [name] : splitName(name));

const splitName = (name: string): readonly string[] =>
  name
    .slice(0, 200)
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');

/** Returns a string member of an input; `undefined` for any other value. */
export const textMember = (input: unknown, name: string): string | undefined => {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, name)) return undefined;
  const member: unknown = input[name as keyof typeof input];
  return typeof member === 'string' ? member : undefined;
};

export const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const thoughtWords = wordSet('think thought thinking sequentialthinking todo todos plan');
const noteWords = wordSet('note notes');
/** Other calls about notes, as of a melody or of an app, are no notes of the model. */
const notingWords = wordSet('write save take update edit set append leave record log keep');
const readingWords = wordSet('read get search find fetch view show');
/** With one of these words, each note is a record of its own, as in a list that is filled. */
const makingWords = wordSet('create add insert new');

export const makes = (words: readonly string[]): boolean => words.some((word) => makingWords.has(word));

/** Whether a tool only rewrites the notes of the model. */
export const isNoteTool = (name: string): boolean => {
  const words = wordsOf(name);
  const at = words.findIndex((word) => thoughtWords.has(word) || noteWords.has(word));
  if (at < 0 || makes(words) || words[at - 1] === 'list' || words.some((word) => readingWords.has(word))) return false;
  return thoughtWords.has(words[at] ?? '') || words.length === 1 || words.some((word) => notingWords.has(word));
};

/** Members of an input that name what a call is about. */
const subjectMember = /^(?:\w{1,20}_)?(?:path|file|directory|folder|url|id|domain)$/i;

/** Returns what a call is about: a file, a page or a record, if its input names one. */
export const subjectOf = (input: unknown): string | undefined => {
  if (typeof input !== 'object' || input === null) return undefined;
  for (const [member, value] of Object.entries(input)) {
    if (typeof value === 'string' && subjectMember.test(member)) return value;
  }
  return undefined;
};

/** Whether a call only rewrites the notes of the model. A note with an id is an entry in a list of the user. */
export const isNoteCall = (name: string, input: unknown): boolean => isNoteTool(name) && subjectOf(input) === undefined;

const lookupWords = wordSet(
  'read get head list search find grep glob query lookup look fetch retrieve recall view show browse describe inspect count ' +
    'ocr transcribe recognize scrape',
);
/** Lookups that also change which page later calls are about. */
export const navigationWords = wordSet('navigate goto visit');

/** Whether the name of a tool says that it looks something up. */
export const isLookupTool = (name: string): boolean =>
  wordsOf(name).some((word) => lookupWords.has(word) || navigationWords.has(word));
