import type { Hit, Said } from './finding.js';
import type { HiddenRegion } from './hiding.js';
import type { Region } from './regions.js';
import { isMentionedAsAttack, isTalkedAbout } from './talk.js';

/** Returns a match with the severity that its place gives it: hidden, in code, in a quotation or in a text about attacks. */
export const judged = (
  text: string,
  { rule, isStrong: isStrongInPlain, isMentioned, start, end, ...said }: Said,
  hidden: (place: Region) => HiddenRegion | undefined,
  code: (place: Region) => Region | undefined,
): Hit => {
  const { isHiddenStrong, isTelling, isDiscussed, isSuspicious } = said;
  const region = hidden({ start, end });
  const isStrong =
    isStrongInPlain ||
    (region !== undefined && isHiddenStrong === true && (region.kind !== 'data' || isTelling === true));
  const isHarmless =
    isDiscussed === true ||
    (!isStrong && isSuspicious !== true) ||
    isTalkedAbout(text, start, end, code({ start, end }) !== undefined) ||
    (isMentioned === true && isMentionedAsAttack(text, start, end));
  // A link title, an attribute or a comment that contains only code is not a hidden request.
  if (region !== undefined && !(rule === 'forged-turn' && !isStrong)) {
    // What is suspicious in visible text is not less so where nobody sees it.
    const severity = isStrong ? 'malicious' : region.kind === 'concealed' || !isHarmless ? 'suspicious' : 'note';
    return {
      rule,
      severity,
      ...(isStrong ? { start: Math.min(start, region.start), end: Math.max(end, region.end) } : { start, end }),
    };
  }
  const severity = isStrong && isMentioned !== true ? 'malicious' : 'suspicious';
  return { rule, severity: isHarmless ? 'note' : severity, start, end };
};
