import type { Hit, Said } from './finding.js';
import type { HiddenRegion } from './hiding.js';
import { codeLookup, type Region } from './regions.js';
import { excuseOf, isMentionedAsAttack } from './talk.js';

/**
 * Returns a function that gives a match the severity of its place: hidden, in code or in a quotation.
 *
 * @param isGiven - whether the text around an example is about it: otherwise, its only content may be the example
 */
export const judgeOf = (
  text: string,
  isGiven: (place: Region, isExample: boolean) => boolean,
  hidden: (place: Region) => HiddenRegion | undefined = () => undefined,
): ((said: Said) => Hit) => {
  const isInCode = codeLookup(text);
  return ({ rule, isStrong: isStrongInPlain, isMentioned = false, start, end, ...said }) => {
    const { isHiddenStrong, isTelling, isDiscussed, isSuspicious } = said;
    const region = hidden({ start, end });
    const isStrong =
      isStrongInPlain ||
      (region !== undefined && isHiddenStrong === true && (region.kind !== 'data' || isTelling === true));
    const isCode = isInCode({ start, end });
    const excuse = excuseOf(text, start, end, isCode);
    const isExample = excuse === 'example' || (isMentioned && isMentionedAsAttack(text, start, end));
    const isHarmless =
      (!isStrong && isSuspicious !== true) ||
      excuse === 'denied' ||
      ((isExample || isDiscussed === true) && (!isStrong || isGiven({ start, end }, isExample)));
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
    const severity = isStrong && !isMentioned && !isExample && isDiscussed !== true ? 'malicious' : 'suspicious';
    return { rule, severity: isHarmless ? 'note' : severity, start, end };
  };
};
