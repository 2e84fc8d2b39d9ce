import type { LoopCall } from './call.js';
import { writes } from './effect.js';
import { shellLineOf } from './shell.js';
import { isLookupTool } from './words.js';

const maxEmpty = 200;
const emptyStart =
  /^[^\p{L}\p{N}]{0,8}(?:no\b|none\b|nothing\b|0 (?:results?|matches|items|rows|hits|files)|zero\b|empty\b|null\b|undefined\b|found (?:0|no|nothing)\b|$)/iu;

/** Matches a sentence that reports a search without results. */
const noMatch =
  /\b(?:(?:did|does|do)(?: not|n't) match any|(?:could|did|can)(?: ?not|n['’]t) find any|(?:returned|yielded|found) (?:no|nothing|0)\b|nothing (?:was )?found|no (?:\w{1,20} ){1,3}(?:were |was )?found)/i;

/** The same in other languages: Romance, Germanic, Slavic, and of Asia. */
const noMatchElsewhere =
  /\b(?:no se (?:ha[n]? )?encontr|(?:ning[uú]n|nenhum|nessun)[^\s.,]{0,2} [^\s.,]{1,20} (?:encontrad|trovat)|não foram encontrad|(?:sin|sem|aucun|nessun|nenhum|pas de) r[eéi]sulta|aucun[^\s.,]{0,2} (?:[^\s.,]{1,20} ){1,3}trouvé)|\b(?:keine?|geen|inga|ingen) (?:[^\s.,]{1,20} )?(?:ergebnis|treffer|resulta|träff|gefunden|gevonden|hittades|fundet|funnet)|\b(?:nichts gefunden|niets gevonden|brak wyników|nie znaleziono|bulunamadı|không tìm thấy|tidak ditemukan)|(?:ничего не найдено|не найдено|нет результатов|нічого не знайдено|не знайдено)|(?:没有|沒有|未|无|無)(?:找到|搜索到|查到|查詢到|匹配|符合|结果|結果)|見つかりません|該当.{0,8}(?:ありません|なし)|結果.?(?:ありません|なし)|(?:결과가|찾을 수|검색 결과) ?없|لا توجد نتائج|لم يتم العثور/i;
/** Matches what checks look for, in the same languages: it is good news that there is none. */
const defect =
  /\b(?:issue|error|problem|warning|vulnerabilit|violation|conflict|defect|bug|failure|difference|duplicate|leak|secret|threat|fehler|warnung|konflikt|erreur|problème|avertissement|erro|fout|fel\b|hata|błęd)|ошиб|проблем|помил|错误|錯誤|问题|問題|エラー|警告|오류|문제|خطأ/i;

/** Matches a count of what only a search returns. */
const countOfNone =
  /^[^\p{L}\p{N}]{0,8}(?:0|no|zero) (?:results?|match(?:es)?|rows?|hits?|records?|documents?|entries)\b(?! (?:affected|changed|updated|inserted|deleted))/iu;

/** Whether a report says that a search had no match, which no other call than a search reports. */
export const reportsMiss = (text: string): boolean =>
  text.length <= maxEmpty &&
  [noMatch, noMatchElsewhere, countOfNone].some((miss) => miss.test(text)) &&
  !defect.test(text);

/** Whether an output reports that nothing was found. */
export const reportsNothing = (output: unknown, text: string): boolean =>
  text.length <= maxEmpty &&
  (emptyStart.test(text) ||
    noMatch.test(text) ||
    noMatchElsewhere.test(text) ||
    isEmptyList(output, text) ||
    (text.includes('\n') && text.split('\n').some((line) => /^[[{]/.test(line) && isEmptyList(line, line))));

/** A report of a state is not longer than this. */
const maxState = 1_000;
const ongoing = String.raw`in[_ -]?(?:progress|queue)|pending|queued|scheduled|submitted`;
const doing = String.raw`(?!missing|failing|warning|nothing|existing|string|during|according|regarding|following)\w{3,20}ing`;
/** Matches what a report says of something that has not ended. */
const running = new RegExp(
  [
    String.raw`\b(?:not[ _-]?(?:yet )?(?:available|ready|complete|finished)|still (?!missing|failing|warning|existing|using)\w{3,20}ing|being (?:processed|prepared|generated|created|deployed|provisioned|initialized|indexed|uploaded|rendered|built))\b`,
    String.raw`\b(?:${ongoing}|ongoing|running|building|processing)\b[\w-]{0,20}["']?[:=] ?["']?true\b`,
    String.raw`(?:stat(?:e|us)|phase|stage)\b["']?(?:\s{0,3}[:=>]\s{0,3}["']?|[ \t]{1,3}[^\w\s][ \t])(?:(?:[a-z]{1,20}_){0,3}in[_ -]?(?:progress|queue)|${ongoing}|${doing})\b`,
  ].join('|'),
  'i',
);
/** What it matches contains one of these. Most outputs have none, and a search for them takes half the time. */
const runningWords = ['not', 'still', 'being', 'true', 'sta', 'phase'];
/** Matches a report that begins with its state. */
const runningStart = new RegExp(String.raw`^\W{0,3}(?:${ongoing}|${doing})(?= ?(?:\.{2}|…|[:(\n]|\d|$))`, 'i');

const mayRun = (text: string): boolean => {
  const lower = text.toLowerCase();
  return runningWords.some((word) => lower.includes(word));
};

/** Matches an operation in JSON that has not ended; an entry of a list of tasks has a text. */
const unfinished =
  /^\s{0,20}\{(?![^]*"(?:title|name|label|text|content|task|summary|subject)")[^[\]]*?"(?:is_?)?(?:completed?|done|finished|ready)"\s{0,3}:\s{0,3}false\b/i;

/** Whether a report says that something is still running, so that it is requested until it has ended. */
export const reportsRunning = (text: string): boolean =>
  text.length <= maxState && (runningStart.test(text) || (mayRun(text) && running.test(text)) || unfinished.test(text));

const held =
  /\b(?:could not|unable to|failed to|error) (?:get|acquir\w{1,3}|obtain)\b[^\n]{0,60}\block\b|\bheld by (?:another )?process\b|\bnot (?:yet )?ready\b|\bnot \w{3,20} yet\b|\bnot yet\b|\bstarting up\b|\bresource temporarily unavailable\b|\bconnection refused\b|\bECONNREFUSED\b|\b(?:could not|couldn't|can't|failed to|unable to) connect\b|\bconnection\b[^\n]{0,60}\bcould not be established\b/i;

/** Whether a failure says that something is held or not up yet, so that the call is repeated until it succeeds. */
export const reportsHeld = (failure: string): boolean => failure.length <= maxState && held.test(failure);

/** Matches members that say which record it is. The empty lists of a record do not make it an empty answer. */
const nameOfRecord =
  /^(?:id|_id|uuid|name|title|label|slug|sku|symbol|email|user|username|login|url|path|file|filename)$/i;

/** Whether an object has an empty list or a count of zero, and no list with items. */
const isEmptyList = (output: unknown, text: string): boolean => {
  const members = Object.entries(reportIn(output, text) ?? {});
  return (
    members.some(
      ([name, member]) => (member === 0 && !isCode.test(name)) || (Array.isArray(member) && member.length === 0),
    ) &&
    members.every(([, member]) => typeof member !== 'object' || member === null || Object.keys(member).length === 0) &&
    !members.some(([name, member]) => nameOfRecord.test(name) && member !== null)
  );
};

/** Matches members in which a zero is a success and not a count. */
const isCode = /code|status|error|elapsed|duration|time/i;

/** Maximum length of a text that is parsed. */
const maxParsed = 16_000;

/** Returns the object that an output is or has as text. */
export const reportIn = (output: unknown, text: string): Readonly<Record<string, unknown>> | undefined => {
  const isText = text.startsWith('{') && text.endsWith('}') && text.length <= maxParsed;
  const found =
    typeof output === 'object' && output !== null && !isWrappedText(output) ? output : isText && parsed(text);
  if (typeof found !== 'object' || found === null) return undefined;
  const inner = 'type' in found && 'value' in found ? found.value : found;
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    ? (inner as Readonly<Record<string, unknown>>)
    : undefined;
};

const isWrappedText = (output: object): boolean => 'value' in output && typeof output.value === 'string';

/**
 * Maximum length of an error report; a longer text is content that begins with similar words. What a tool that changes
 * something returns is a report of any length, which may quote the input and the file.
 */
const maxReport = 600;
/** Of a report, this much can tell that it is one. */
const maxStart = 200;
const noErrors =
  /\b(?:0|no|zero|without) (?:\w{1,20} ){0,2}(?:errors?|failures?|failed)\b|\b(?:errors?|failures?|failed)["']?\s{0,3}[:=]\s{0,3}(?:0\b|none\b|null\b|false\b|\[\])/i;
/**
 * Matches what follows the name of a failure in a report: its end, a sign, a code, or what it is about. A title such as
 * `Error codes` or `Network configuration` has another noun there.
 */
const reported = String.raw`(?=\s*$|\s{0,3}[^\s\w]|\s\w{0,20}\d|\s[^:\n]{1,60}:\s|\s\w{2,20}ing (?!in\b|of\b|for\b|and\b|with\b|on\b)\S|\s\w{2,20}ed\b|\s(?:in|at|on|while|during|when|from|with|of|to|by|was|is|has|response|for|thrown|timeout)\s)`;
// What a sentence says of the thing that it begins with.
const turnedDown = String.raw`failed|refused|denied|rejected|timed out|aborted|already exists|not found|unavailable|unreachable|does not exist|doesn't exist|disconnected|panicked|(?:crashed|reverted)(?=\s*$|[.:])|limit (?:exceeded|reached)`;
const notWilling = String.raw`(?:must|have to|need to|will) (?:decline|refuse)|(?:decline|refuse) to \w|(?:won['’]t|will not|not going to) (?:help|assist|do|comply|proceed|continue|perform|take|act)`;
const notAllowed = String.raw`not (?:be )?(?:allowed|permitted|available|supported|exist|recogni[sz]ed|interactable|clickable|authori[sz]ed|logged in)|do(?:es)?(?: not|n't) have (?:the |any )?(?:permissions?|access|rights?)|(?:session|token|login|credentials?|licen[sc]e)(?: has| have| is)? expired`;
const notValid = String.raw`(?:should|must) be (?:an? )?(?:valid )?(?:non-empty|string|integer|number|boolean|array|object|uuid|url|date)`;
/** Matches the beginning of an error report. */
const reportStart = new RegExp(
  `^(?:${[
    String.raw`(?:[\w.-]{1,30} ){0,3}(?:[a-z]*error|exception|failure|fault)\b${reported}`,
    String.raw`(?:fehler|erreur|errore|erro|fout|fel|hata|błąd|ошибка|помилка|错误|錯誤|エラー|오류|خطأ)\s{0,3}[:：!]`,
    String.raw`(?:permission|access|deadline|panic|fatal|abort(?:ing)?|quota|gateway|internal server|conflict|network|timeout(?!: \d))\b${reported}`,
    String.raw`(?:[\w'"‘’“”«»./:-]{1,60} ){0,5}(?:${turnedDown}|${notWilling}|${notAllowed}|${notValid})\b`,
    String.raw`(?:[\w'"‘’“”«»./:-]{1,60} ){0,4}(?:fails?|could ?n[o']t|cannot|can(?:no|')t|unable|not able|was not able) (?:to )?\w`,
    String.raw`(?:wrong|incorrect|bad|expired|insufficient) (?:user ?name|password|passcode|pin|code|credentials?|login|token|key|format|input|arguments?|value|parameters?|type|syntax|permissions?|privileges?|funds|balance|credits?|quota|memory|space|disk|storage)\b`,
    String.raw`expected [^\n]{1,80}(?:,| but) (?:got|found|received)\b|(?:net::)?ERR_[A-Z]|SQLSTATE\b`,
    String.raw`(?:denied|forbidden|unauthori[sz]ed|no such|no (?:permission|access|route|space)|invalid|illegal|unknown|unsupported|missing|malformed|timed out|traceback|segmentation|killed|out of memory|sorry|oops|something went wrong|too many requests|rate limit|service unavailable|bad (?:request|gateway)|connection (?:refused|reset|closed|lost))\b`,
    String.raw`(?:(?:http(?:\/[\d.]{1,3})?|status|code|error|status code):?\s?[45]\d\d\b|(?:40[013489]|422|429|50[0234]|529)(?::|\s*[-–(]|\s+(?:bad|unauthori[sz]ed|forbidden|not|method|request|conflict|gone|payload|unprocessable|too|internal|service|gateway|server|client|overloaded|error)\b))`,
  ].join('|')})`,
  'i',
);
const errorMark = /^<(?:\w{1,20}[_:])?(?:error|fault|exception)\b|^[❌✗✖⛔🚫]/iu;
const upperCode = /^E[A-Z]{4,14}\b/;
const successWords = /^(?:no|none|0|zero|success|ok\b|done|passed|all)\b/i;

/** Matches a report that nothing was done. It is a failure of a call that should have changed something. */
const nothingDone = /^no \w{1,20} (?:was|were|has been|have been) \w/i;
/** Matches a count of errors, which only a lookup may return as an answer. */
const errorCount = /^[1-9]\d{0,5} (?:\w{1,20} ){0,2}(?:errors?|failures?)\b(?! (?:fixed|corrected|resolved|removed))/i;
/** Matches a sentence about an error that was raised. */
const raised = /\b(?:raised|threw) (?:an? )?(?:\w{0,40}error|\w{0,40}exception)\b/i;
/** Matches a report that an act had no effect. */
const noEffect =
  /^(?:nothing happen(?:s|ed)|(?:that|this|it) (?:ha[sd] no effect|(?:does|did)(?: not|n['’]t) work))\b/i;
/** Matches a report that a change was not made, as editors end with after they showed what it would have been. */
const notMade =
  /\b(?:changes?|edits?|patch|diff|replacements?|file)\b[^\n.]{0,40}\b(?:(?:not|n['’]t)(?: been| be)? (?:applied|made|saved|performed|written|modified|changed|updated)|reverted to (?:its|the) (?:original|previous))\b/i;
/** Characters at the end of an output that are read for that. */
const maxEnd = 400;
/** Matches a title that is underlined. */
const underlined = /^[^\n]{1,200}\n[=-]{3}/;

/**
 * Whether the output of a successful call reports a failure.
 *
 * @param message the readable text of the output
 */
export const reportsError = (call: LoopCall, output: unknown, message: string): boolean => {
  if (typeof output === 'object' && output !== null) {
    if ('type' in output && (output.type === 'error-text' || output.type === 'error-json')) return true;
    const report = 'type' in output && output.type === 'json' && 'value' in output ? output.value : output;
    if (hasErrorMember(report)) return true;
  }
  if (message.length > maxReport) {
    if (!isLookupTool(call.name) && notMade.test(message.slice(-maxEnd))) return true;
    if (isShellCall(call) || !writes(call)) return false;
  }
  const read = startOf(message);
  const bare = startsWithWord(read) ? read : read.replace(/^[^\p{L}\p{N}]{0,12}/u, '');
  const lineEnd = bare.indexOf('\n');
  const start = lineEnd < 0 ? bare : bare.slice(0, lineEnd);
  if (start === '' || underlined.test(bare)) return false;
  if (start.startsWith('{') || message.startsWith('{')) return hasErrorMember(parsed(message));
  if (!startsWithWord(message) && errorMark.test(read.trimStart())) return true;
  if (nothingDone.test(start) && !isShellCall(call) && writes(call)) return true;
  if (noEffect.test(start)) return true;
  if (!isLookupTool(call.name) && !isShellCall(call) && (errorCount.test(start) || raised.test(read))) return true;
  if (successWords.test(start) && !/^no (?:such|permission|access|route|space)/i.test(start)) return false;
  if (!(upperCode.test(start) || reportStart.test(start)) || noErrors.test(message)) return false;
  return !(isLookupTool(call.name) && reportsMiss(message));
};

const isShellCall = (call: LoopCall): boolean => shellLineOf(call.name, call.input) !== undefined;

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

/** Returns the beginning of a message: of a page its title, of a report what follows its heading. */
const startOf = (message: string): string => {
  if (message.startsWith('<')) {
    const title = /<title>\s{0,20}([^<]{1,200})/i.exec(message)?.[1];
    return title ?? message.replace(/^<\?xml[^<>]{0,100}>\s{0,20}/, '').slice(0, maxStart);
  }
  const isHeaded = message.startsWith('#') && /^#{1,6} (?:result|output|response)\n/i.test(message);
  return (isHeaded ? message.slice(message.indexOf('\n') + 1) : message).slice(0, maxStart);
};

/** Returns names in the spellings that are in use: `err_msg`, `errMsg`, `errmsg` and `ErrMsg`. */
const namesOf = (names: string): readonly string[] =>
  names.split(' ').flatMap((name) => {
    const camel = name.replaceAll(/_(\w)/g, (_, first: string) => first.toUpperCase());
    return [name, camel, name.replaceAll('_', ''), camel.charAt(0).toUpperCase() + camel.slice(1)];
  });
/** Matches a word for a failure in a state or a code, such as `rejected`, `OVER_QUERY_LIMIT` and `InvalidParameter`. */
const failingState =
  /^(?:error|failed|failure|fatal|denied|rejected|forbidden|unauthori[sz]ed)$|^over_\w{1,20}_limit$|^invalid[_A-Z]|[_a-z](?:denied|exceeded|unauthori[sz]ed|forbidden|unavailable|exception)$/i;
const isFailingState = (value: unknown): boolean => typeof value === 'string' && failingState.test(value);
/** A page that does not exist is an answer. */
const isHttpError = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 400 && Number(value) < 600 && value !== 404 && value !== 410;
const isSaid = (value: unknown): boolean => {
  if (typeof value === 'string') return value !== '' && !/^(?:0|ok|none|null|false|success|no error)$/i.test(value);
  // JavaScript serializes an error as an empty object.
  if (typeof value === 'object') return value !== null && !(Array.isArray(value) && value.length === 0);
  return value === true || (typeof value === 'number' && value !== 0);
};
/** Members by which reports in JSON tell a failure, and the values that do. */
const failingMembers: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  (
    [
      [
        'error err errors exception fault error_message error_msg err_msg error_description error_code err_code',
        isSaid,
      ],
      ['success ok succeeded delivered sent', (value: unknown) => value === false || value === 'false'],
      ['failed is_error has_error', (value: unknown) => value === true],
      ['status', (value: unknown) => isFailingState(value) || isHttpError(value)],
      ['status_code http_status', isHttpError],
      ['code', isFailingState],
    ] as const
  ).flatMap(([names, isFailing]) => namesOf(names).map((name) => [name, isFailing] as const)),
);
/** Maximum number of members of a report that are read. */
const maxMembers = 40;

const hasErrorMember = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  let members = 0;
  for (const name in value) {
    members += 1;
    if (members > maxMembers) return false;
    if (failingMembers.get(name)?.(value[name as keyof typeof value]) === true) return true;
  }
  return hasErrorCode(value as Readonly<Record<string, unknown>>);
};

const requestMember = /^(?:request|trace|log)_?id$/i;
/**
 * Whether a report has a numeric code other than those of a success, a message and no data. Records have codes and
 * messages too; reports about a request name it, or have the codes of HTTP.
 */
const hasErrorCode = (report: Readonly<Record<string, unknown>>): boolean => {
  const { code, data } = report;
  const message = report['message'] ?? report['msg'];
  if (typeof code !== 'number' || typeof message !== 'string' || message === '') return false;
  if (code < 2 || (code >= 200 && code < 300) || (data !== undefined && data !== null)) return false;
  return (code >= 400 && code < 600) || data === null || Object.keys(report).some((name) => requestMember.test(name));
};

/** Returns the readable text of an output: the text of its parts without their JSON structure. */
export const messageOf = (output: unknown, text: string): string => {
  if (typeof output !== 'object' || output === null) return text;
  const { value, content } = output as Readonly<Record<string, unknown>>;
  const parts = [output, value, content].find((each) => Array.isArray(each));
  if (parts === undefined) return text;
  const texts = parts.flatMap((part: unknown) =>
    typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? [part.text] : [],
  );
  return texts.length === 0 ? text : texts.join('\n');
};
