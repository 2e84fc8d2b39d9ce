/**
 * Parts of an outcome that differ from run to run although nothing has changed.
 *
 * All quantifiers are bounded and each part begins at a boundary, so that the time is linear in the text whatever it says.
 * Counts, percentages, sizes, dates without a time and commit hashes stay: they tell whether something has changed.
 */
const parts: readonly string[] = [
  // 2026-11-21T18:40:16.123Z, 2026-11-21 18:40:16+01:00
  String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?`,
  // 18:40:16, 0:00:05.12
  String.raw`\d{1,3}:\d\d:\d\d(?:[.,]\d{1,9})?`,
  // UUIDs
  String.raw`[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}`,
  // 312ms, 1.2 s, 1m 23s, 5 minutes, 3d
  String.raw`(?:\d{1,9}(?:[.,]\d{1,9})?(?: ?(?:ns|us|µs|ms|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|s)|[mhd])[ ,]?){0,4}\d{1,9}(?:[.,]\d{1,9})?(?: ?(?:ns|us|µs|ms|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|s)|[mhd])`,
  // milliseconds since 1970
  String.raw`1[5-9]\d{11}(?:\.\d{1,9})?`,
  // addresses in memory
  String.raw`0x[\da-f]{6,16}`,
  // pid 4711, "durationMs": 12, attempt #3 of 5, retry=2/5
  String.raw`(?:p?pid|process(?: id)?|node|thread|attempts?|retry|retries|try|tries|duration|elapsed|took|latency|uptime|timestamp|wall ?time|started_?at|ended_?at|finished_?at|created_?at|updated_?at)(?:[ _]?(?:ms|s|secs?|seconds?|number|no|count))?\\{0,3}["']?[ \t]{0,4}[:=#]?[ \t]{0,4}\\{0,3}["'#]?\d{1,20}(?:\.\d{1,9})?(?: ?(?:/|of) ?\d{1,9}| ?(?:ms|s|secs?|seconds?|mins?|minutes?|hours?))?`,
  // request ids, nonces, ids of wrappers
  String.raw`(?:nonce|(?:request|req|trace|span|correlation)[-_ ]?id)["']?[ \t]{0,4}[:=]?[ \t]{0,4}["']?[\w-]{6,80}`,
  String.raw`req_[\da-z]{8,60}`,
  String.raw`id=["']?[\da-f]{8,64}`,
  // names that mktemp and tempfile make
  String.raw`tmp\.[\da-z]{6,12}`,
  String.raw`tmp(?=[a-z_]{0,8}\d)[\da-z_]{8}`,
];

const anyPart = new RegExp(
  String.raw`(?<![\w.-])(?:${parts.join('|')})(?![\w-])|(?<===)\d{2,9}(?===)|(?<=\w\[)\d{2,9}(?=\]:)`,
  'gi',
);

/**
 * Replaces what is volatile in a text: times, durations, process ids, nonces and attempt numbers.
 *
 * @example
 * ```ts
 * withoutVolatile('FAIL in 1.24s (attempt 2/5, pid 4711)'); // 'FAIL in ~ (~, ~)'
 * ```
 */
export const withoutVolatile = (text: string): string => text.replace(anyPart, '~');
