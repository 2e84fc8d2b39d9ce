import type { Hit, Said } from './finding.js';
import type { HiddenRegion } from './hiding.js';
import { codeLookup, type Region } from './regions.js';
import { isCited, isMentionedAsAttack, isTalkedAbout } from './talk.js';

/**
 * Returns a function that gives a match the severity of its place: hidden, in code, in a quotation or in a text about
 * attacks.
 */
export const judgeOf = (
  text: string,
  hidden: (place: Region) => HiddenRegion | undefined,
  isAbout: () => boolean,
): ((said: Said) => Hit) => {
  const isInCode = codeLookup(text);
  return ({ rule, isStrong: isStrongInPlain, isMentioned = false, start, end, ...said }) => {
    const { isHiddenStrong, isTelling, isDiscussed, isSuspicious } = said;
    const region = hidden({ start, end });
    const isStrong =
      isStrongInPlain ||
      (region !== undefined && isHiddenStrong === true && (region.kind !== 'data' || isTelling === true));
    const isCode = isInCode({ start, end });
    const isHarmless =
      isDiscussed === true ||
      (!isStrong && isSuspicious !== true) ||
      isTalkedAbout(text, start, end, isCode) ||
      (isMentioned && isMentionedAsAttack(text, start, end));
    // A link title, an attribute or a comment that contains only code is not a hidden request.
    if (region !== undefined && !(rule === 'forged-turn' && !isStrong)) {
      // What is suspicious in visible text is no less suspicious in hidden text.
      const severity = isStrong ? 'malicious' : region.kind === 'concealed' || !isHarmless ? 'suspicious' : 'note';
      return {
        rule,
        severity,
        ...(isStrong ? { start: Math.min(start, region.start), end: Math.max(end, region.end) } : { start, end }),
      };
    }
    const isQuotation = isMentioned || (isStrong && isCited(text, start, end, isCode) && isAbout());
    const severity = isStrong && !isQuotation ? 'malicious' : 'suspicious';
    return { rule, severity: isHarmless ? 'note' : severity, start, end };
  };
};
