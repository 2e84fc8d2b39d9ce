/** What a message says besides its sentences: a status, codes, and the text of an HTML page without its markup. */
export interface TextEvidence {
  readonly status: number | undefined;
  /** Codes that the message gives a name to: `"code": "1302"`, `type=overloaded_error`, `error code 1308`. */
  readonly codes: readonly string[];
  /** Identifiers that appear in a sentence: `insufficient_quota`, `RateLimitError`, `ECONNRESET`. */
  readonly mentions: readonly string[];
  readonly text: string;
}

/** Longest part of a message that is read. Providers state the cause first; what follows quotes requests and stacks. */
const maxLength = 8_192;
const maxPageText = 400;

/** Reads one message. */
export const readText = (given: string): TextEvidence => {
  // oxlint-disable-next-line no-control-regex -- the colors of a terminal
  const cut = given.slice(0, maxLength).replaceAll(/\u001B\[[\d;]{0,20}[a-z]/gi, '');
  const text = (isPage(cut) ? pageText(cut) : cut).replaceAll(/[^\S\n]+/g, ' ');
  const parts = [text.trim(), ...quotedMessages(text)];
  return { status: statusIn(text, parts), codes: codesIn(text, parts), mentions: mentionsIn(text), text };
};

/** Messages that a sentence or a printed object quotes: `Last error: 429 …`, `{'message': '402 …'}`. */
const quotedMessages = (text: string): readonly string[] =>
  [...text.matchAll(/\b(?:message|error|detail|msg)["']?\s{0,2}[:=]\s{0,2}["']?([^\n{}]{3,200})/gi)].map(
    ([, quoted = '']) => quoted.replace(/["'}\]\s]{1,8}$/, ''),
  );

/** `500 Internal Server Error`, `402 status code (no body)`, `429 {"error": …}`, but not `402 items found`. */
const leadingStatus =
  /^\W{0,3}(?:error\W{1,3})?(?:http(?:\/\d(?:\.\d)?)?\W{0,3})?\[?([45]\d\d)\b(?!\s+(?!status\b)[a-z]{2,20}s\b)(?![.,]\d|\d)/i;

/** `status code: 400`, `HTTP 413`, `(status 403 Forbidden)`, `Error code: 429`, `[503 Service Unavailable]`, `API Error: 529`. */
const namedStatus =
  /(?:\bstatus(?:[ _-]?code)?|状态码|\bhttp(?:\/\d(?:\.\d)?|[ _-]?status(?:[ _-]?code)?)?|\berror(?:[ _-]?code)?|\b(?:got|returned|received|responded with)(?: an?)?)["']?\s{0,2}[:：=([]?\s{0,2}["'([]?([45]\d\d)\b(?![.,]?\d)(?!\s+(?!status\b)[a-z]{2,20}s\b)|\[([45]\d\d) [A-Z]|\b([45]\d\d) status code\b/i;

/** `request failed: 429 {"error": …}`, also if the object was read and taken out. */
const statusOfBody = /(?<![\w.,-])([45]\d\d)\W{0,4}\{/;

const statusIn = (text: string, parts: readonly string[]): number | undefined => {
  const found =
    parts.map((part) => leadingStatus.exec(part)?.[1]).find(Boolean) ??
    namedStatus.exec(text)?.slice(1).find(Boolean) ??
    statusOfBody.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
};

const namedCode =
  /["']?\b(?:code|type|status|reason|error_code|errorCode|__type)\b["']?\s{0,2}[:=]\s{0,2}["']?([\w.-]{3,60})/g;
const numberedError = /\b(?:error|code)\W{0,3}(?:code\W{0,3})?\[?(\d{4})\b|^\W{0,2}\[?(\d{4})\](?=\W|$)/gi;

/** `ThrottlingException: …`, `429 insufficient_quota: …`, or a message that is nothing but a code. */
const leadingCode = /^\W{0,3}(?:\d{3}\W{1,3})?([A-Za-z][\w.-]{2,60})\s{0,2}(?::|$)/;

const codesIn = (text: string, parts: readonly string[]): readonly string[] => [
  ...parts.flatMap((part) => leadingCode.exec(part)?.slice(1) ?? []),
  ...[...text.matchAll(namedCode)].map(([, code = '']) => code),
  ...[...text.matchAll(numberedError)].map(([, after, leading]) => after ?? leading ?? ''),
];

/** Snake case, at least two humps, or an error number of the system. Quoted ones may be names of parameters. */
const identifier =
  /(?<![\w`'"[-])(?:[A-Za-z]{2,30}(?:_[A-Za-z\d]{1,30}){1,6}|[A-Z][a-z]{1,20}(?:[A-Z][A-Za-z]{1,20}){1,5}|[Ee][A-Z_]{3,20}|e(?:conn|host|net|addr|pipe|timedout)[a-z]{0,20}|[A-Z]{4,20})(?![\w`'"(\]-])/g;

const mentionsIn = (text: string): readonly string[] => [...text.matchAll(identifier)].map(([word]) => word);

const isPage = (text: string): boolean => /<(?:!doctype html|html|head|title)\b/i.test(text);

/** The text before the page, its title and its first headings. The rest of an error page is advice and decoration. */
const pageText = (page: string): string => {
  const before = page.slice(0, Math.max(0, page.search(/<(?:!doctype|html|head|title)\b/i)));
  const parts = [...page.matchAll(/<(?:title|h1|h2|p|pre)\b[^>]{0,200}>([^<]{0,200})/gi)].map(([, content = '']) =>
    content.trim(),
  );
  const said = parts.length > 0 ? parts.join('\n') : page.replaceAll(/<[^>]{0,400}>/g, ' ').trim();
  const body = said.slice(0, maxPageText);
  return before.trim() === '' ? body : `${before.trim()} ${body}`;
};
