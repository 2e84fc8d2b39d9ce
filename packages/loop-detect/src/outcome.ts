import type { ToolStatus } from '@h/turn';
import { selectFrom, type LoopCall, type LoopOutcome } from './call.js';
import { canonicalText } from './canonical.js';
import { writes } from './effect.js';
import { scan, scanStart, similarity, type Scan } from './scan.js';
import { shellLineOf } from './shell.js';

/** A summary of an outcome. It is stored with the result and suffices to judge the outcome after a restart. */
export type Fingerprint = {
  /** Hash of status and output without what is volatile. */
  readonly outcome: number;
  /** The same with all numbers, hashes and ids masked. */
  readonly shape: number;
  /** Sample of the words of the output, or of what a failure says. */
  readonly words: readonly number[];
  /** Sum of the numbers in the output, or of its ratios: whether it rises tells progress from noise. */
  readonly level?: number | undefined;
  readonly isRatio?: boolean | undefined;
  /** Whether the output reports that nothing was found. */
  readonly isEmpty?: boolean | undefined;
  /**
   * Hash of what a failure says without what it repeats of the input. Absent for successes and for failures that say
   * nothing.
   */
  readonly failure?: number | undefined;
  /** What kind of failure it is, in one word. */
  readonly kind?: string | undefined;
  /** Only in those that are not stored: outcomes with different beginnings are different. */
  readonly start?: number | undefined;
};

/** Statuses of calls that did not run or whose outcome is unknown. */
export const neutralStatuses: ReadonlySet<ToolStatus> = new Set(['skipped', 'cancelled', 'interrupted']);
const successStatuses: ReadonlySet<ToolStatus> = new Set(['ok', 'stored']);

/** Whether an outcome is a success, by its status and its message. */
export const isSuccess = (status: ToolStatus, { failure }: Fingerprint): boolean =>
  successStatuses.has(status) && failure === undefined;

/** @param select selects the significant part of the output, if the options define it */
export const fingerprintOf = (
  call: LoopCall,
  outcome: LoopOutcome,
  select?: (output: unknown) => unknown,
): Fingerprint => new PendingFingerprint(call, outcome, select).finish();

/** What an outcome says besides its text. */
type Traits = Pick<Fingerprint, 'isEmpty' | 'failure' | 'kind'> & { readonly said?: readonly number[] };

/**
 * A fingerprint whose output is scanned when it is compared: most outcomes of a run are not. It holds the output until
 * then.
 */
export class PendingFingerprint implements Fingerprint {
  /** Hash of the beginning of the output. */
  readonly start: number;
  readonly #status: ToolStatus;
  readonly #traits: Traits;
  #text: string;
  #scan: Scan | undefined;

  constructor(call: LoopCall, { status, output }: LoopOutcome, select?: (output: unknown) => unknown) {
    const counts = select === undefined ? output : selectFrom(select, output);
    this.#text = withoutPlace(call.input, textOf(counts));
    this.#status = status;
    this.#traits = traitsOf(call, status, counts, this.#text);
    this.start = scanStart(this.#text, status);
  }

  /** Number of characters that it holds. */
  get chars(): number {
    return this.#text.length;
  }

  /** Whether both hold their output, and it is the same. */
  hasOutputOf(other: PendingFingerprint): boolean {
    return (
      this.#scan === undefined &&
      other.#scan === undefined &&
      this.#status === other.#status &&
      this.#text === other.#text
    );
  }

  get outcome(): number {
    return this.#scanned.exact;
  }

  get shape(): number {
    return this.#scanned.shape;
  }

  get words(): readonly number[] {
    return this.#traits.said ?? this.#scanned.words;
  }

  get level(): number | undefined {
    return this.#scanned.level;
  }

  get isRatio(): boolean | undefined {
    return this.#scanned.isRatio;
  }

  get isEmpty(): boolean | undefined {
    return this.#traits.isEmpty;
  }

  get failure(): number | undefined {
    return this.#traits.failure;
  }

  get kind(): string | undefined {
    return this.#traits.kind;
  }

  /** Returns the fingerprint as data, which can be stored, and no longer holds the output. */
  finish(): Fingerprint {
    const { exact, shape, words, level, isRatio } = this.#scanned;
    const { said, ...traits } = this.#traits;
    return {
      outcome: exact,
      shape,
      words: said ?? words,
      ...(level !== undefined && { level }),
      ...(isRatio === true && { isRatio }),
      ...traits,
    };
  }

  get #scanned(): Scan {
    this.#scan ??= scan(this.#text, this.#status);
    this.#text = '';
    return this.#scan;
  }
}

const traitsOf = (call: LoopCall, status: ToolStatus, output: unknown, text: string): Traits => {
  if (neutralStatuses.has(status) || status === 'denied') return {};
  if (successStatuses.has(status) && !reportsError(call, output, text)) {
    const isEmpty =
      text.length <= maxEmpty && (emptyStart.test(text) || noMatch.test(text) || isEmptyList(output, text));
    return isEmpty ? { isEmpty } : {};
  }
  const failure = failureText(call, messageOf(output, text));
  if (failure === undefined) return {};
  const { words, shape } = scan(failure);
  return { said: words, failure: shape, kind: kindOf(failure, status) };
};

/** Members of an input that say which part of a list to return. */
const placeMember = /^(?:page|offset|cursor|skip|start|after|from)\w*$/i;

/** Removes the place in a list that a result repeats from its input, as in `"page":7`. */
const withoutPlace = (input: unknown, text: string): string => {
  if (typeof input !== 'object' || input === null) return text;
  let rest = text;
  for (const [member, value] of Object.entries(input)) {
    if (!Number.isSafeInteger(value) || !placeMember.test(member)) continue;
    rest = rest.replaceAll(new RegExp(`"${member}": ?${String(value)}(?!\\d)`, 'g'), '');
  }
  return rest;
};

/** Whether two outcomes give the same answer; all empty answers are one. */
export const isSameAnswer = (one: Fingerprint, other: Fingerprint): boolean => {
  if (one.isEmpty === true || other.isEmpty === true) return one.isEmpty === other.isEmpty;
  return isSameOutcome(one, other);
};

/** Whether two outcomes are equal apart from volatile parts. Equal outputs are not scanned for this. */
export const isSameOutcome = (one: Fingerprint, other: Fingerprint): boolean =>
  one.start === other.start &&
  ((one instanceof PendingFingerprint && other instanceof PendingFingerprint && one.hasOutputOf(other)) ||
    one.outcome === other.outcome);

/** Returns the text of an output, which is an output as in `tool.result` or any value. */
const textOf = (output: unknown): string => {
  if (typeof output === 'string') return output;
  if (typeof output === 'object' && output !== null && 'value' in output && typeof output.value === 'string') {
    return output.value;
  }
  return canonicalText(output, (text) => `"${text}"`);
};

const maxEmpty = 200;
const emptyStart =
  /^[^\p{L}\p{N}]{0,8}(?:no\b|none\b|nothing\b|0 (?:results?|matches|items|rows|hits|files)|zero\b|empty\b|null\b|undefined\b|found (?:0|no|nothing)\b|$)/iu;

/** Matches a sentence that reports a search without results. */
const noMatch =
  /\b(?:(?:did|does|do)(?: not|n't) match any|(?:returned|yielded|found) (?:no|nothing|0)\b|nothing (?:was )?found)/i;

/** Whether an object has an empty list or a count of zero, and no list with items. */
const isEmptyList = (output: unknown, text: string): boolean => {
  const found =
    text.startsWith('{') && text.endsWith('}') ? (typeof output === 'string' ? parsed(text) : output) : undefined;
  if (typeof found !== 'object' || found === null) return false;
  const inner = 'type' in found && 'value' in found ? found.value : found;
  const members: readonly unknown[] = typeof inner === 'object' && inner !== null ? Object.values(inner) : [];
  return (
    members.some((member) => member === 0 || (Array.isArray(member) && member.length === 0)) &&
    members.every((member) => typeof member !== 'object' || member === null || Object.keys(member).length === 0)
  );
};

// Failures that are reported as successes

/** Maximum length of an error report; a longer text is content that begins with similar words. */
const maxReport = 600;
/** Of a report, this much can tell that it is one. */
const maxStart = 200;
const noErrors =
  /\b(?:0|no|zero|without) (?:\w{1,20} ){0,2}(?:errors?|failures?|failed)\b|\b(?:errors?|failures?|failed)["']?\s{0,3}[:=]\s{0,3}(?:0\b|none\b|null\b|false\b|\[\])/i;
/**
 * Matches what follows the name of a failure in a report: its end, a sign, a code, or what it is about. A title such as
 * `Error codes` or `Network configuration` has another noun there.
 */
const reported = String.raw`(?=\s*$|\s{0,3}[^\s\w]|\s\w{0,20}\d|\s[^:\n]{1,60}:\s|\s\w{2,20}ing (?!in\b|of\b|for\b|and\b|with\b|on\b)\S|\s\w{2,20}ed\b|\s(?:in|at|on|while|during|when|from|with|of|to|by|was|is|has|response|thrown|timeout)\s)`;
/** Matches the beginning of an error report. */
const reportStart = new RegExp(
  `^(?:${[
    String.raw`(?:[\w.-]{1,30} ){0,3}(?:[a-z]*error|exception|failure|fault)\b${reported}`,
    String.raw`(?:fehler|erreur|errore|erro|fout|fel|hata|błąd|ошибка|помилка|错误|錯誤|エラー|오류|خطأ)\s{0,3}[:：!]`,
    String.raw`(?:permission|access|deadline|panic|fatal|abort|quota|gateway|internal server|conflict|network|time(?:out)?)\b${reported}`,
    String.raw`(?:[\w'"./:-]{1,60} ){0,5}(?:failed|refused|denied|rejected|timed out|aborted|not found|not (?:be )?(?:allowed|permitted|available|supported|exist)|unavailable|unreachable|does not exist|doesn't exist|disconnected)\b`,
    String.raw`(?:[\w'"./:-]{1,60} ){0,4}(?:fails?|could ?n[o']t|cannot|can(?:no|')t|unable|not able|was not able) (?:to )?\w`,
    String.raw`(?:denied|forbidden|unauthori[sz]ed|no such|no (?:permission|access|route|space)|invalid|illegal|unknown|unsupported|missing|malformed|timed out|traceback|segmentation|killed|out of memory|sorry|oops|something went wrong|too many requests|rate limit|service unavailable|bad (?:request|gateway)|connection (?:refused|reset|closed|lost))\b`,
    String.raw`(?:(?:http(?:\/[\d.]{1,3})?|status|code|error|status code):?\s?[45]\d\d\b|(?:40[013489]|422|429|50[0234]|529)(?:$|:|\s*[-–(]|\s+(?:bad|unauthori[sz]ed|forbidden|not|method|request|conflict|gone|payload|unprocessable|too|internal|service|gateway|server|client|overloaded|error)\b))`,
  ].join('|')})`,
  'i',
);
const upperCode = /^E[A-Z]{4,14}\b/;
const successWords = /^(?:no|none|0|zero|success|ok\b|done|passed|all)\b/i;

/** Matches a report that nothing was done. It is a failure of a call that should have changed something. */
const nothingDone = /^no \w{1,20} (?:was|were|has been|have been) \w/i;
/** Matches a title that is underlined. */
const underlined = /^[^\n]{1,200}\n[=-]{3}/;

/** Whether the output of a successful call reports a failure. */
const reportsError = (call: LoopCall, output: unknown, text: string): boolean => {
  if (typeof output === 'object' && output !== null) {
    if ('type' in output && (output.type === 'error-text' || output.type === 'error-json')) return true;
    const report = 'type' in output && output.type === 'json' && 'value' in output ? output.value : output;
    if (hasErrorMember(report)) return true;
  }
  const message = messageOf(output, text);
  if (message.length > maxReport) return false;
  const read = message.slice(0, maxStart);
  const bare = startsWithWord(read) ? read : read.replace(/^[^\p{L}\p{N}]{0,12}/u, '');
  const lineEnd = bare.indexOf('\n');
  const start = lineEnd < 0 ? bare : bare.slice(0, lineEnd);
  if (start === '' || underlined.test(bare)) return false;
  if (start.startsWith('{') || message.startsWith('{')) return hasErrorMember(parsed(message));
  if (!startsWithWord(message) && /^<(?:\w{1,20}_)?error>|^[❌✗✖⛔🚫]/u.test(message.trimStart())) return true;
  if (nothingDone.test(start) && shellLineOf(call.name, call.input) === undefined && writes(call)) return true;
  if (successWords.test(start) && !/^no (?:such|permission|access|route|space)/i.test(start)) return false;
  return (upperCode.test(start) || reportStart.test(start)) && !noErrors.test(message);
};

/** Whether a text begins with a letter or a digit, as most do. */
const startsWithWord = (text: string): boolean => {
  const code = text.charCodeAt(0);
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const errorStates: ReadonlySet<unknown> = new Set(['error', 'failed', 'failure', 'fatal', 'denied', 'rejected']);

const hasErrorMember = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { error, isError, success, ok, status, errors } = value as Readonly<Record<string, unknown>>;
  return (
    isError === true ||
    success === false ||
    ok === false ||
    (typeof error === 'string' && error !== '') ||
    (typeof error === 'object' && error !== null) ||
    error === true ||
    (Array.isArray(errors) && errors.length > 0) ||
    errorStates.has(typeof status === 'string' ? status.toLowerCase() : status)
  );
};

/** Returns the readable text of an output: the text of its parts without their JSON structure. */
const messageOf = (output: unknown, text: string): string => {
  if (typeof output !== 'object' || output === null) return text;
  const { value, content } = output as Readonly<Record<string, unknown>>;
  const parts = [output, value, content].find((each) => Array.isArray(each));
  if (parts === undefined) return text;
  const texts = parts.flatMap((part: unknown) =>
    typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? [part.text] : [],
  );
  return texts.length === 0 ? text : texts.join('\n');
};

// Failure messages

const maxFailure = 16_000;
/** Number of lines of a failure that are compared, except for the output of a command. */
const firstLines = 3;
const maxFirst = 400;
/** Matches text that reports the failure of a command without a cause. */
const saysNothing = /exit(?:ed)?(?: with)? (?:code|status):? ?-?\d*|\(no output\)/gi;
/** Placeholder for input that a failure quotes. A private-use character. */
const echo = '\uE000';

const failureText = (call: LoopCall, text: string): string | undefined => {
  const isShell = shellLineOf(call.name, call.input) !== undefined;
  const told = isShell ? text.slice(0, maxFailure) : firstOf(text);
  const said = withoutInput(call.input, told);
  const bare = said.replaceAll(saysNothing, '').trim();
  // A shell prints nothing for a search without a match. For any other tool, this is a failure without a message.
  if (/[\p{L}\d]/u.test(bare)) return said;
  return isShell || said.includes(echo) ? undefined : 'failed';
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

/** Returns the strings and numbers in an input, longest first. */
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
  return found.toSorted((left, right) => right.length - left.length);
};

// Kinds of failures

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

const kindOf = (text: string, status: ToolStatus): string => {
  if (status === 'timed-out') return 'timeout';
  const start = text.slice(0, maxFirst);
  for (const [kind, words] of kinds) if (words.test(start)) return kind;
  return 'other';
};

/** Minimum share of common words of two related failures. */
const sameFailure = 0.6;
const relatedFailure = 0.35;

/** Compares two failures of one tool. */
export const compareFailures = (one: Fingerprint, two: Fingerprint, isShell: boolean): 'same' | 'related' | 'other' => {
  if (one.failure === two.failure) return 'same';
  const share = similarity(one.words, two.words);
  // Outputs of different commands share a preamble, so common words are no evidence.
  if (!isShell && share >= sameFailure) return 'same';
  return (one.kind === two.kind && one.kind !== 'other') || share >= relatedFailure ? 'related' : 'other';
};
