/** Words of texts that speak about attacks instead of making one. */
const defence =
  /inject|jailbreak|attack|malicious|adversar|untrusted|hostile|suspicious|exfiltrat|detect|\bflag|reject|refus|sanitiz|red.?team|threat|vulnerab|\bsuch as\b|\be\.g\.|\bfor example|\bexample|\blike\b|attempt|pattern|phrase|keyword|payload|\bsays?\b|saying|asks? you|tells? you|told|tries|trying|claims?|\bbad\b|wrong|\bblock(?:s|ed|ing)?\b|\btreat\b|scan|test case|insulate|guard|defen[cs]e|must not|never|do not (?:follow|obey|comply|act|execute)|don.t (?:follow|obey)|❌|owasp/i;

const negation =
  /(?:\bnever|\bdo not|\bdon.t|\bmust not|\bmustn.t|\bshould not|\bshouldn.t|\bcannot|\bcan.t|\bmay not|\bnot|\bno|\bwithout|\brefuse to|\brather than|\binstead of|\battempts? to|\btr(?:y|ies|ying) to|\btells? (?:you|the model|it|agents?) to|\basks? (?:you|the model|it|agents?) to|\binstructions? to|\bavoid)\W{1,3}(?:\w{1,15}\W{1,2}){0,3}$/i;

const quotes: readonly string[] = Array.from('"\'`“”‘’«»「」『』„');
const reach = 240;
const maxLine = 400;

/** What follows an example of an attack. */
const verdicts = /inject|attack|malicious|jailbreak|untrusted|adversar|suspicious/i;

/** Whether the passage stands in quotes, on its line. */
const isQuoted = (text: string, start: number, end: number): boolean => {
  const before = text.slice(Math.max(lineStartOf(text, start), start - 120), start);
  const after = text.slice(end, end + 160).split('\n', 1)[0] ?? '';
  return (
    quotes.some((quote) => after.includes(quote)) &&
    quotes.some((quote) => before.includes(quote) && !isApostrophe(before, quote))
  );
};

/** Where the line begins; of long lines only the last part counts. */
const lineStartOf = (text: string, place: number): number => {
  const from = Math.max(0, place - maxLine);
  return from + text.slice(from, place).lastIndexOf('\n') + 1;
};

const isApostrophe = (before: string, quote: string): boolean =>
  (quote === "'" || quote === '’') && !/(?:^|\W)['’]/.test(before);

/**
 * Whether a passage is spoken about rather than said: negated, or given as an example in a text that is on its guard.
 *
 * @param isCode whether it stands in code, which counts as quoted
 */
export const isTalkedAbout = (text: string, start: number, end: number, isCode: boolean): boolean => {
  const near = text.slice(Math.max(0, start - reach), start);
  const before = near.slice(near.lastIndexOf('\n\n') + 1);
  if (negation.test(before.slice(-60))) return true;
  if (!isCode && !isQuoted(text, start, end) && !isListed(text, start)) return false;
  return defence.test(before) || verdicts.test(text.slice(end, end + 80)) || defence.test(headingBefore(text, start));
};

/** Whether the passage is in a table or an item of a list. */
const isListed = (text: string, start: number): boolean => {
  const lineStart = lineStartOf(text, start);
  return (
    /^\s{0,12}(?:[-*+|]|\d{1,2}[.)])\s/.test(text.slice(lineStart, lineStart + 16)) ||
    text.slice(lineStart, start).includes('|')
  );
};

const maxHeadingDistance = 4000;

/** The nearest heading above. */
const headingBefore = (text: string, start: number): string => {
  const above = text.slice(Math.max(0, start - maxHeadingDistance), start);
  const place = above.lastIndexOf('\n#');
  return place === -1 ? '' : (above.slice(place + 1).split('\n', 1)[0] ?? '');
};
