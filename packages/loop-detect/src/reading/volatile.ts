/** What differs from run to run although nothing has changed: times, durations, process ids, random names. */

const codesOf = (characters: string): ReadonlySet<number> =>
  new Set(Array.from(characters, (character) => character.charCodeAt(0)));
const [blank, comma, slash, opening, closing] = [32, 44, 47, 91, 93];
/** Blanks before a number in brackets. */
const maxPadding = 12;
/** The first letters of the units that {@link unitNext} matches. */
const unitStarts: ReadonlySet<number> = codesOf('nuµμmshd');
/** Minimum length of random hashes and ids. */
export const shortestId = 7;
/** Minimum length of random ids without a digit. */
export const shortestIdOfLetters = 12;

/**
 * Matches labels of numbers that do not indicate progress: `pid 4711`, `"durationMs": 12`, `attempt=3`, `port 3001`.
 */
const volatileLabel =
  /(?:duration|elapsed|timestamp|latency|uptime|attempts?|retr(?:y|ies)|iterations?|counter|taken|goroutine|ratelimit-\w{1,20}|resource_?version|tool_uses|(?:total|input|output|prompt|completion|cached)_?tokens|token_?count|wall_?time|time_?taken|(?:started|ended|finished|created|updated)_?at|(?:^|[_-])(?:p?pid|pgid|process|node|thread|worker|tr(?:y|ies)|took|ports?|seed|seq(?:uence)?|tick|nonce|polls?|checks?|calls?|requests?|hits?))[_-]?(?:ms|s|secs?|seconds?|number|no|count|id)?$/i;
/** Matches labels of durations: `idle_for_seconds`, `ageMs`. */
const durationLabel =
  /_(?:ms|secs?|seconds?|millis|mins?|minutes?|hours?)$|[a-z](?:Ms|Secs?|Seconds?|Millis|Minutes?|Hours?)$/;
/** Matches labels and what follows a duration that falls until something has ended: `eta_minutes`, `3 minutes left`. */
const remainingLabel =
  /(?:^|[_-])(?:eta|remaining|left|countdown)(?:[_-]|$)|^(?:eta|remaining)(?=[A-Z])|Remaining|Left$/;
const remainingNext = / (?:remaining|left|to go)\b/y;
/** Matches what is before and behind a count of equal calls: `read 3× this session`, `called 3 times`. */
const beforeTimes = /\b(?:read|seen|called|viewed|requested|repeated|visited|opened)(?: it)? $/i;
const timesNext = / times\b/y;
/** The last character of such a count, which is a part of the token. */
const timesSign = 0xd7;
const timesStart = 't'.charCodeAt(0);
/** Matches those of them that say how far something is if the whole follows: `iteration 12/200`. */
const partLabel = /^iterations?$/i;
/** Matches labels of numbers that say how far something is without a whole: `"progress": 45`. */
export const shareLabel = /(?:^|[_-])(?:percent(?:age)?|pct|progress)$/i;
/** Matches labels of ids that are generated for each call. */
export const volatileId =
  /(?:request|req|trace|span|correlation|process|chunk|nonce|run|job|session|cursor|next|continuation|ray|page_?token|(?:token|etag)(?=\\?["'][ \t]{0,3}:|=))[-_ ]?(?:id|page|cursor|token)?\\?["']?[ \t]{0,3}[:=]?[ \t]{0,3}\\?["'<#]?(?:r-|req[-_])?$/i;
/** Matches labels of numbers that depend on the question and not on what was found. */
export const scoreLabel = /(?:^|_)(?:score|similarity|distance|relevance)$/i;
export const duration = /^(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|µs|μs|ms|secs?|mins?|hrs?|[smhd]))+$/i;
const durationNext =
  /[ ,]{1,2}\d{1,9}(?:\.\d{1,9})?(?: ?(?:ns|us|µs|μs|ms|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|s)|[mhd])(?![\w-])/y;
const unitNext = / (?:ns|us|µs|μs|ms|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|s)(?![\w-])/y;
/** What a host leaves out of an output. */
const leftOut =
  / (?:more )?(?:characters?|chars|lines?|bytes|tokens|rows) (?:(?:were|was|have been|are) )?(?:truncated|omitted|removed|hidden|elided|skipped|not shown)\b/y;
const leftOutStarts: ReadonlySet<number> = codesOf('clbtrm');
/** The groups of a number with thousands separators, and a decimal comma before a unit. */
const groupsNext = /(?:,\d{3}){1,4}(?:\.\d{1,9})?(?![\w,])/y;
const decimalsNext = /,\d{1,2}(?= (?:ms|s|secs?|seconds?|mins?|minutes?)(?![\w-]))/y;
export const shareNext = / ?(?:\/|of) ?(\d{1,12})(?![\w.-])/y;
/** ISO 8601 in its extended and basic formats, and the time of the Common Log Format. */
export const clock =
  /^(?:\d{4}-\d\d-\d\dT|\d{4}:)?\d{1,3}:\d\d:\d\d(?:\.\d{1,9})?Z?$|^\d{4}-\d\d-\d\dT\d\d:\d\dZ?$|^\d{8}T\d{4}(?:\d\d)?Z?$|^\d{4}-\d\d-\d\dT\d\d[_-]\d\d[_-]\d\d/;
export const shortestClock = '0:00:00'.length;
/** A fraction of a second behind a comma, as ISO 8601 has it and the loggers of Python and Java write it. */
const fractionNext = /,\d{3,9}(?![\w.])/y;
/** A time in a name, as in `build_20261120T101112.log`. */
export const timeInName = /20\d\d[01]\d[0-3]\d[_T-]?[0-2]\d[0-5]\d[0-5]\d/;
/** A time since the start of the system, as the kernel prints it. */
const sinceStart = /^\d{1,9}\.\d{6}$/;
/** A process id before the severity of a message, as PostgreSQL prints it. */
const severityNext = /\] [A-Z]{3,9}: /y;
export const maxDigits = 15;
export const plainNumber = /^\d{1,15}(?:\.\d{1,20})?$/;
export const sized = /^(\d{1,12}(?:\.\d{1,9})?)(?:[kmgt]i?b?|b|bytes)$/i;
export const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
export const uuidLength = 36;
/** The address of a server on this machine, which may get another port at each start. */
export const localServer = /^(?:127(?:\.\d{1,3}){3}|0\.0\.0\.0):\d{2,5}$/;
export const address = /^0x[\da-f]{6,16}$/i;
export const shortestTemporary = 9;
const temporary = /^(?:tmp|temp)[._-]?\w{6,}$|^req[_-]\w{4,}$/i;
export const hexadecimal = /^(?=[a-f-]*\d)[\da-f-]{7,}(?:\.[a-z]{1,5})?$/i;
const secondsSince1970 = /^1[5-9](?:\d{8}|\d{11})(?:\.\d+)?$|^20\d\d[01]\d[0-3]\d[0-2]\d[0-5]\d[0-5]\d$/;
/** Matches alternating letters and digits, as in random keys. */
export const random = /^(?=.{8,})(?:[a-z_-]*\d+[a-z_-]+){3,}\d*$/i;
/** Groups of digits that such a key has at least. */
export const randomGroups = 3;
/** Matches digits and letters in both cases, as in random ids, unlike in names of several words. */
export const isMixedId = (token: string): boolean =>
  /[A-Z]/.test(token) && /[a-z]/.test(token) && /\d/.test(token) && !/[a-z]{5}/.test(token);
/** Matches names that browsers give the elements of one snapshot, as in `[ref=s3e12]`. */
export const elementRef = /^(?:[a-z]\d{1,6}){1,3}$/;
export const temporaryFolder = /(?:\/te?mp\/|\/T\/|\\Temp\\)$/;

/** Matches the folder that Linux has for each process and thread. */
const processFolder = /\/(?:proc|task)\/$/;

export const isTemporary = (text: string, start = 0, end = text.length): boolean => {
  const first = text.charCodeAt(start) | 32;
  return (first === 116 || first === 114) && temporary.test(text.slice(start, end));
};

export const isDigitCode = (code: number): boolean => code >= 48 && code <= 57;

export const isLabelOfId = (label: string): boolean => label.length === 2 && label.toLowerCase() === 'id';

export const isIdOfCall = (text: string, token: string, start: number, label: string): boolean =>
  volatileId.test(text.slice(Math.max(0, start - 24), start)) ||
  /(?:^|[^\w])id=["']?$/.test(text.slice(Math.max(0, start - 5), start)) ||
  (token.length >= 16 && hexadecimal.test(token) && label.toLowerCase() === 'id');

/** Whether a duration says how long something still takes. @param end the end of its unit */
export const isRemaining = (text: string, end: number, label: string): boolean => {
  if (label !== '' && remainingLabel.test(label)) return true;
  if (text.charCodeAt(end) !== blank) return false;
  remainingNext.lastIndex = end;
  return remainingNext.test(text);
};

export const isVolatileNumber = (text: string, token: string, start: number, end: number, label: string): boolean => {
  if (token.length >= 10 && secondsSince1970.test(token)) return true;
  if (label !== '' && durationLabel.test(label)) return !isRemaining(text, end, label);
  // The port of a server on this machine, unlike a figure with that label.
  if (label.toLowerCase() === 'localhost' && text.startsWith(':', start - 1)) return true;
  if (label !== '' && isCountOfCalls(text, start, end)) return true;
  if (label !== '' && volatileLabel.test(label)) return !partLabel.test(label) || shareAt(text, end) === undefined;
  const isInFolder = text.charCodeAt(start - 1) === slash;
  if (isInFolder && processFolder.test(text.slice(Math.max(0, start - 6), start))) return true;
  if (text.charCodeAt(end) === closing && isBracketedNumber(text, token, start, end)) return true;
  // `==4711==` is a process id.
  return text.startsWith('==', start - 2) && text.startsWith('==', end);
};

export const isCountOfCalls = (text: string, start: number, end: number): boolean => {
  return isTimes(text, end) && beforeTimes.test(text.slice(Math.max(0, start - 16), start));
};

const isTimes = (text: string, end: number): boolean => {
  if (text.charCodeAt(end - 1) === timesSign) return true;
  if (text.charCodeAt(end) !== blank || text.charCodeAt(end + 1) !== timesStart) return false;
  timesNext.lastIndex = end;
  return timesNext.test(text);
};

/** Whether a number in brackets is a process id or a time: `sshd[4711]:`, `[4711] LOG: `, `[  12.345678] `. */
const isBracketedNumber = (text: string, token: string, start: number, end: number): boolean => {
  let at = start - 1;
  while (start - at < maxPadding && text.charCodeAt(at) === blank) at -= 1;
  if (text.charCodeAt(at) !== opening) return false;
  severityNext.lastIndex = end;
  return text.startsWith(']:', end) || sinceStart.test(token) || severityNext.test(text);
};

export const behindFraction = (text: string, end: number): number => {
  if (text.charCodeAt(end) !== comma) return end;
  fractionNext.lastIndex = end;
  return fractionNext.test(text) ? fractionNext.lastIndex : end;
};

/** Returns the end of a number with thousands separators or a decimal comma. */
export const behindGroups = (text: string, end: number): number => {
  if (text.charCodeAt(end) !== comma) return end;
  for (const next of [groupsNext, decimalsNext]) {
    next.lastIndex = end;
    if (next.test(text)) return next.lastIndex;
  }
  return end;
};

/** Returns the end of a notice such as `1234 characters truncated`. */
export const behindLeftOut = (text: string, end: number): number => {
  if (text.charCodeAt(end) !== blank || !leftOutStarts.has(text.charCodeAt(end + 1))) return end;
  leftOut.lastIndex = end;
  return leftOut.test(text) ? leftOut.lastIndex : end;
};

/** Returns the whole of a share such as `/5` or ` of 214`, and leaves its end in `shareNext`. */
export const shareAt = (text: string, at: number): number | undefined => {
  const code = text.charCodeAt(at);
  const first = code === blank ? text.charCodeAt(at + 1) : code;
  if (first !== slash && first !== 111) return undefined;
  shareNext.lastIndex = at;
  const share = shareNext.exec(text);
  return share === null ? undefined : Number(share[1]);
};

export const behindUnit = (text: string, end: number): number => {
  if (text.charCodeAt(end) !== blank || !unitStarts.has(text.charCodeAt(end + 1))) return end;
  unitNext.lastIndex = end;
  return unitNext.test(text) ? unitNext.lastIndex : end;
};

/** Returns the end of a duration such as `1m 23s`. */
export const behindDurations = (text: string, end: number): number => {
  let at = end;
  for (let parts = 0; parts < 4; parts += 1) {
    const next = text.charCodeAt(at);
    if (next !== blank && next !== comma) return at;
    durationNext.lastIndex = at;
    if (!durationNext.test(text)) return at;
    at = durationNext.lastIndex;
  }
  return at;
};
