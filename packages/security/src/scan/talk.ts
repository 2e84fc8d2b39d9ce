/** Words of texts that discuss attacks instead of making one. */
const defense =
  /inject|jailbreak|attack|malicious|adversar|untrusted|hostile|suspicious|exfiltrat|detect|\bflag|reject|refus|sanitiz|red.?team|threat|vulnerab|\bsuch as\b|\be\.g\.|\bfor example|\bexample|\blike\b|attempt|pattern|phrase|keyword|payload|\bsays?\b|saying|asks? you|tells? you|told|tries|trying|claims?|\bbad\b|wrong|\bblock(?:s|ed|ing)?\b|\btreat\b|scan|test case|insulate|guard|defen[cs]e|must not|never|do not (?:follow|obey|comply|act|execute)|don.t (?:follow|obey)|❌|owasp/i;
/** Such words in a heading, which applies to its whole section. */
const topic = /inject|jailbreak|attack|malicious|adversar|untrusted|exfiltrat|red.?team|threat|vulnerab|payload|owasp/i;

const negation =
  /(?:\bnever|\bdo not|\bdon.t|\bmust not|\bmustn.t|\bshould not|\bshouldn.t|\bcannot|\bcan.t|\bmay not|\bnot|\bno|\bwithout|\brefuse to|\brather than|\binstead of|\battempts? to|\btr(?:y|ies|ying) to|\btells? (?:you|the model|it|agents?) to|(?:was|were|is|are|been|being|when) (?:told|asked|instructed|ordered|prompted) to|\basks? (?:you|the model|it|agents?) to|\binstructions? to|\bavoid)\W{1,3}(?:\w{1,15}\W{1,2}){0,3}$/i;

/** Untrusted sources of instructions, which defensive texts tell the reader to ignore. */
const foreign =
  /^\W{0,3}(?:\w{1,15} ){0,4}?(?:(?:in|inside|within|from|embedded in|contained in|found in|hidden in|that (?:appear|occur|come|are)[^.\n]{0,30}) [^.\n]{0,60}?\b(?:files?|repositor\w+|pages?|results?|outputs?|documents?|content|comments?|issues?|emails?|websites?|data|logs?|messages?|sources?|tools?|code|readmes?|pull requests?|attachments?)\b)?[^.\n]{0,40}?\b(?:that|which|if (?:it|they)|asking|telling|trying|attempting|instructing|claiming|directing|when(?:ever)? (?:it|they))\b[^.\n]{0,30}?\b(?:ask|tell|tr(?:y|ies)|attempt|instruct|claim|direct|conflict|contradict|request|want|you|urge|pretend|demand)/i;
/** Attributes of the model's own instructions, which foreign texts do not have. */
const own = /\b(?:your|system|safety|developer|previous|prior|earlier|above|original|initial)\b/i;

/** Words that introduce an example without quotes. */
const introduction =
  /(?:\blike|such as|examples?|e\.g\.|\bsays?|phrases?|strings?|patterns?|payloads?)[^.\n]{0,15}[:,]?\s{0,2}$/i;

const quotes: readonly string[] = Array.from('"\'`“”‘’«»「」『』„');
const reach = 240;
const maxLine = 400;

/** Words that follow an example of an attack. */
const verdicts = /inject|attack|malicious|jailbreak|untrusted|adversar|suspicious/i;

/** Whether the passage is in quotes on its line. */
const isQuoted = (text: string, start: number, end: number): boolean => {
  const before = text.slice(Math.max(lineStartOf(text, start), start - 120), start);
  const after = text.slice(start, end + 160).split('\n', 1)[0] ?? '';
  return (
    quotes.some((quote) => after.includes(quote)) &&
    quotes.some((quote) => before.includes(quote) && !isApostrophe(before, quote))
  );
};

/** Returns the start of the line. Of a long line, only the last part counts. */
const lineStartOf = (text: string, place: number): number => {
  const from = Math.max(0, place - maxLine);
  return from + text.slice(from, place).lastIndexOf('\n') + 1;
};

const isApostrophe = (before: string, quote: string): boolean =>
  (quote === "'" || quote === '’') && !/(?:^|\W)['’]/.test(before);

/**
 * Whether a passage is mentioned rather than requested: negated, about the instructions of foreign texts, or an example
 * in a defensive paragraph.
 *
 * @param isCode - whether the passage is in code, which counts as quoted
 */
export const isTalkedAbout = (text: string, start: number, end: number, isCode: boolean): boolean => {
  const near = text.slice(Math.max(0, start - reach), start);
  const before = near.slice(near.lastIndexOf('\n\n') + 1);
  if (negation.test(before.slice(-60))) return true;
  const passage = text.slice(start, end);
  if (!own.test(passage) && foreign.test(text.slice(end, end + 160).replace(/\s+/g, ' '))) return true;
  if (introduction.test(before) && (topic.test(before) || isQuoted(text, start, end))) return true;
  if (!isCode && !isQuoted(text, start, end) && !isListed(text, start)) return false;
  return defense.test(before) || verdicts.test(afterIn(text, end)) || topic.test(headingBefore(text, start));
};

/** Returns up to 80 characters after the passage in the same paragraph. */
const afterIn = (text: string, end: number): string => text.slice(end, end + 80).split('\n\n', 1)[0] ?? '';

/** Whether the passage is in a table or an item of a list. */
const isListed = (text: string, start: number): boolean => {
  const lineStart = lineStartOf(text, start);
  return (
    /^\s{0,12}(?:[-*+|]|\d{1,2}[.)])\s/.test(text.slice(lineStart, lineStart + 16)) ||
    text.slice(lineStart, start).includes('|')
  );
};

const maxHeadingDistance = 4000;

/** Returns the nearest heading above the passage. */
const headingBefore = (text: string, start: number): string => {
  const above = text.slice(Math.max(0, start - maxHeadingDistance), start);
  const place = above.lastIndexOf('\n#');
  return place === -1 ? '' : (above.slice(place + 1).split('\n', 1)[0] ?? '');
};
