import type { ToolStatus } from '@h/turn';
import type { LoopCall } from './call.js';
import { shellLineOf } from './shell.js';

const maxFailure = 16_000;
/** Number of lines of a failure that are compared, except for the output of a command. */
const firstLines = 3;
const maxFirst = 400;
/** Matches text that reports the failure of a command without a cause. */
const saysNothing = /exit(?:ed)?(?: with)? (?:code|status):? ?-?\d*|\(no output\)/gi;
/** Placeholder for input that a failure quotes. A private-use character. */
const echo = '\uE000';

/** Returns what a failure says, without what it repeats of the input; `undefined` if it says nothing. */
export const failureText = (call: LoopCall, text: string): string | undefined => {
  const isShell = shellLineOf(call.name, call.input) !== undefined;
  const failure = isShell ? text.slice(0, maxFailure) : firstOf(text);
  const unquoted = withoutInput(call.input, failure);
  const bare = unquoted.replaceAll(saysNothing, '').trim();
  // A shell prints nothing, or a count of zero, for a search without a match. For any other tool, this is a failure without a message.
  if (/[\p{L}\d]/u.test(bare) && !(isShell && bare === '0')) return unquoted;
  return isShell || unquoted.includes(echo) ? undefined : 'failed';
};

const firstOf = (text: string): string =>
  text
    .slice(0, maxFailure)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, firstLines)
    .join('\n')
    .slice(0, maxFirst);

const quoted = /(["'`])([^\n]{1,300}?)\1(?![\p{L}\d])|[“‘«]([^”’»\n]{1,300})[”’»]/gu;
const nameLike = /[^\s"'`,;()[\]{}<>\uE000]{2,300}/g;

/** Replaces the input that a failure quotes: whole strings, quoted parts of them, names and paths. */
const withoutInput = (input: unknown, text: string): string => {
  const leaves = leavesOf(input);
  if (leaves.length === 0) return text;
  let rest = text;
  for (const leaf of leaves) {
    if (leaf.length < 3) continue;
    rest = /^\w{1,8}$/.test(leaf)
      ? rest.replaceAll(new RegExp(String.raw`\b${leaf}\b`, 'g'), echo)
      : rest.replaceAll(leaf, echo);
    const escaped = JSON.stringify(leaf).slice(1, -1);
    if (escaped !== leaf) rest = rest.replaceAll(escaped, echo);
  }
  const isInput = (part: string): boolean => {
    const start = part.slice(0, 40).trim();
    return part.includes(echo) || (start !== '' && leaves.some((leaf) => leaf.includes(start)));
  };
  rest = rest.replaceAll(quoted, (whole, _mark, plain: string | undefined, curly: string | undefined) =>
    isInput(plain ?? curly ?? '') ? echo : whole,
  );
  rest = replaceNames(rest, (name) => {
    const bare = name.replace(/[.:!?]+$/, '');
    return /[\d./_\\@-]|[a-z][A-Z]/.test(bare) && bare.length >= 3 && leaves.some((leaf) => leaf.includes(bare));
  });
  return rest.includes(echo) ? widened(rest) : rest;
};

const maxNames = 200;

/** Replaces those of the first names that are input. */
const replaceNames = (text: string, isInput: (name: string) => boolean): string => {
  let replaced = '';
  let from = 0;
  let names = 0;
  for (const { 0: name, index } of text.matchAll(nameLike)) {
    names += 1;
    if (names > maxNames) break;
    if (!isInput(name)) continue;
    replaced += text.slice(from, index) + echo;
    from = index + name.length;
  }
  return replaced + text.slice(from);
};

const maxWidth = 200;
const beforeEcho = /[\s\uE000"'`(]/;
const behindEcho = /\uE000[^\s\uE000"'`):,;.]{0,200}(?:[\s,]{0,2}\uE000)*/y;

/** Extends each placeholder to the word that it is a part of, and merges those that follow each other. */
const widened = (text: string): string => {
  let result = '';
  let from = 0;
  for (let at = text.indexOf(echo); at !== -1; at = text.indexOf(echo, from)) {
    let start = at;
    while (start > from && at - start < maxWidth && !beforeEcho.test(text.charAt(start - 1))) start -= 1;
    behindEcho.lastIndex = at;
    behindEcho.test(text);
    result += text.slice(from, start) + echo;
    from = behindEcho.lastIndex;
  }
  return result + text.slice(from);
};

const maxLeaves = 20;
const maxLeaf = 4_000;
/** A failure may quote each line of an input behind its number; shorter lines may be in it by chance. */
const [maxQuotedLines, shortestLine] = [40, 8];

/** Returns the strings and numbers in an input, and the lines of a text, longest first. */
const leavesOf = (input: unknown): readonly string[] => {
  const found: string[] = [];
  const collect = (value: unknown, depth: number): void => {
    if (found.length >= maxLeaves || depth > 4) return;
    if (typeof value === 'string' || typeof value === 'number') {
      const leaf = String(value).slice(0, maxLeaf).trim();
      if (leaf !== '') found.push(leaf);
    } else if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) collect(member, depth + 1);
    }
  };
  collect(input, 0);
  const lines = found
    .flatMap((leaf) => (leaf.includes('\n') ? leaf.split('\n').map((line) => line.trim()) : []))
    .filter((line) => line.length >= shortestLine);
  return [...found, ...lines.slice(0, maxQuotedLines)].toSorted((left, right) => right.length - left.length);
};

const kinds: readonly (readonly [kind: string, words: RegExp])[] = [
  [
    'permission',
    /permission|denied|forbidden|unauthori[sz]ed|not (?:allowed|permitted|authori[sz]ed)|EACCES|EPERM|credential|may not|\b40[13]\b|read-only file/i,
  ],
  ['rate', /rate.?limit|too many|quota|throttl|\b429\b|overloaded|capacity/i],
  ['timeout', /time(?:d)?[ -]?out|deadline|took too long|ETIMEDOUT|no response|\b504\b/i],
  [
    'network',
    /ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|connection|connect\b|network|socket|unreachable|unavailable|gateway|offline|\b50[23]\b|dns/i,
  ],
  [
    'missing',
    /not (?:be )?(?:found|exist|locate)|no such|ENOENT|does(?: not|n't) exist|missing|could(?: not|n't) (?:find|locate)|unknown|no match|nothing (?:to|match)|\b404\b|undefined/i,
  ],
  ['exists', /already|exists|conflict|EEXIST|duplicate|\b409\b|locked/i],
  [
    'invalid',
    /invalid|syntax|pars(?:e|ing)|unexpected|malformed|expected|schema|must be|required|validation|\b4(?:00|22)\b|type ?error|illegal|bad request/i,
  ],
  ['resources', /memory|ENOSPC|no space|disk|EMFILE|heap|killed/i],
  ['internal', /internal|server error|\b500\b|exception|crash|panic|assert|went wrong|fault/i],
];

/** Returns what kind of failure it is, in one word. */
export const kindOf = (text: string, status: ToolStatus): string => {
  if (status === 'timed-out') return 'timeout';
  const start = text.slice(0, maxFirst);
  for (const [kind, words] of kinds) if (words.test(start)) return kind;
  return 'other';
};
