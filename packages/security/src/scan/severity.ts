import type { Discussion } from './about/discussion.js';
import { maxHits, overlap, severityWeight, type Hit, type Said, type Severity } from './finding.js';
import type { HiddenRegion } from './hiding/hiding.js';
import { codeLookup, regionLookup, type Region } from './text/regions.js';
import { excuseOf, isMentionedAsAttack } from './about/talk.js';
import { lenient, wordingLevels, type Passage } from './wording/worded-passages.js';

/*
 * The severity of what a scan found, in four steps:
 *
 * 1. The place of a match: `judged`. A strong match is malicious, a weak one suspicious or a note. Hidden text raises it;
 *    a denial, or an example in a text about it, makes it a note.
 * 2. What is close to it: `combined`. Secrecy next to a deed, and two rare rules, are suspicious together.
 * 3. The wording of its passage: `confirmed`. A request in an ordinary passage is suspicious or a note.
 * 4. What the text is about: `discussedIn`. A text about attacks that only repeats one is suspicious.
 */

/** Returns the hidden region of a place. */
type Hidden = (place: Region) => HiddenRegion | undefined;
const nowhere: Hidden = () => undefined;

/** Maximum number of evaluated attempts; several can merge into one finding. */
const maxJudged = 400;

/**
 * Returns the matches with the severities of their places, until the number of attempts is high enough to block the whole
 * text.
 */
export const judged = (said: readonly Said[], discussion: Discussion, hidden: Hidden = nowhere): readonly Hit[] => {
  const judge = judgeOf(discussion, hidden);
  const hits: Hit[] = [];
  let attempts = 0;
  for (const one of said) {
    const hit = judge(one);
    hits.push(hit);
    if (hit.severity === 'malicious') attempts += 1;
    if (attempts > maxJudged) break;
  }
  return hits;
};

/** Returns a function that gives a match the severity of its place: hidden, in code or in a quotation. */
const judgeOf = (discussion: Discussion, hidden: Hidden): ((said: Said) => Hit) => {
  const { text } = discussion;
  const isInCode = codeLookup(text);
  return ({ rule, isStrong: isStrongInPlain, isMentioned = false, start, end, ...said }) => {
    const { isHiddenStrong, isTelling, isDiscussed, isSuspicious, isKnown = false } = said;
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
      ((isExample || isDiscussed === true) && (!isStrong || discussion.isGiven({ start, end }, isExample)));
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
    return { rule, severity: isHarmless ? 'note' : severity, isKnown, start, end };
  };
};

/** Largest distance of what is evaluated together. */
export const closeBy = 400;
/** Rules that are harmless alone but suspicious next to a request for secrecy. */
const covert: ReadonlySet<string> = new Set([
  'secret-in-url',
  'remote-script',
  'prompt-theft',
  'authority',
  'new-instructions',
  'persona',
  'exfiltration',
  'skips-approval',
  'forged-turn',
]);
/** Raises the severity of combinations: secrecy with an action, or two rare rules. */
export const combined = (hits: readonly Hit[]): readonly Hit[] => {
  const secrecy = hits.filter(({ rule }) => rule === 'secrecy').slice(0, maxHits);
  if (secrecy.length === 0) return pairs(hits);
  const deeds = hits.filter(({ rule }) => covert.has(rule)).slice(0, maxHits);
  const raised = new Map<Hit, Severity>();
  for (const one of secrecy) {
    const near = { start: one.start - closeBy, end: one.end + closeBy };
    for (const deed of deeds) {
      if (!overlap(near, deed)) continue;
      raised.set(one, 'suspicious');
      if (deed.severity !== 'malicious') raised.set(deed, 'suspicious');
    }
  }
  const worse = (hit: Hit): Severity => {
    const severity = raised.get(hit);
    return severity !== undefined && severityWeight[severity] > severityWeight[hit.severity] ? severity : hit.severity;
  };
  return pairs(hits.map((hit) => (raised.has(hit) ? { ...hit, severity: worse(hit) } : hit)));
};

/** Rules that rarely match ordinary files. Two different ones close together are suspicious. */
const rare: ReadonlySet<string> = new Set([
  'authority',
  'new-instructions',
  'persona',
  'prompt-theft',
  'skips-approval',
  'forged-turn',
]);

const pairs = (hits: readonly Hit[]): readonly Hit[] => {
  const signs = hits
    .filter(({ rule }) => rare.has(rule))
    .toSorted((one, other) => one.start - other.start)
    .slice(0, maxHits);
  const raised = new Set<Hit>();
  for (const [index, one] of signs.entries()) {
    for (const other of signs.slice(index + 1, index + 9)) {
      if (one.rule !== other.rule && other.start - one.end < closeBy / 2) raised.add(one).add(other);
    }
  }
  return hits.map((hit) => (raised.has(hit) && hit.severity === 'note' ? { ...hit, severity: 'suspicious' } : hit));
};

/** Rules for requests in words. */
const worded: ReadonlySet<string> = new Set(
  'override diversion prompt-theft persona authority secrecy theft steering sabotage skips-approval persistence regardless new-instructions forged-turn'.split(
    ' ',
  ),
);

const isConfirmable = ({ rule, severity }: Hit): boolean => severity !== 'note' && worded.has(rule);

/** Rules that name the instructions of the reader, which ordinary passages rarely do. */
const telling: ReadonlySet<string> = new Set(['override', 'prompt-theft']);

/** Rules that find delimiters instead of words. */
const structural: ReadonlySet<string> = new Set(['forged-turn']);

/**
 * Lowers requests whose passages have an ordinary wording. Rules match a few words; the wording of the passage is the
 * evidence for a change of the verdict: without it, a visible malicious request is suspicious, and a suspicious one, or
 * any in a comment or an attribute, is a note, unless it is concealed. In languages other than English, whose
 * stems match more ordinary words, the wording must be less ordinary: that of the passage, or for a malicious request
 * that of a clause, since ordinary clauses around it lower the score of the passage.
 */
export const confirmed = (
  hits: readonly Hit[],
  passages: readonly Passage[],
  hidden: Hidden = nowhere,
): readonly Hit[] => {
  if (!hits.some(isConfirmable)) return hits;
  const passagesFrom = (level: (passage: Passage) => number): ((place: Region) => Region | undefined) =>
    regionLookup(passages.filter((passage) => passage.isUnscored || passage.score >= level(passage)));
  const certain = passagesFrom(({ margin }) => wordingLevels.certain + margin);
  const possible = passagesFrom(
    ({ isForeign, margin }) => lenient(margin) + (isForeign ? wordingLevels.confirming : wordingLevels.ordinary),
  );
  let inClauses: ((place: Region) => Region | undefined) | undefined;
  const isInClause = (hit: Hit): boolean => {
    inClauses ??= regionLookup(
      passages.filter(
        ({ isForeign, margin, clauseScore }) =>
          isForeign && clauseScore() >= wordingLevels.confirming + lenient(margin),
      ),
    );
    return inClauses(hit) !== undefined;
  };
  const likely = passagesFrom(({ margin }) => wordingLevels.ordinary + margin);
  const asides = passagesFrom(() => wordingLevels.certain);
  const any = regionLookup(passages);
  const severityOf = (hit: Hit): Severity => {
    if (!isConfirmable(hit) || any(hit) === undefined) return hit.severity;
    const isMalicious = hit.severity === 'malicious';
    const region = hidden(hit);
    if (isMalicious && structural.has(hit.rule)) return hit.severity;
    if (isMalicious && region?.kind === 'concealed') return asides(hit) === undefined ? 'suspicious' : 'malicious';
    const isPossible = possible(hit) !== undefined || (isMalicious && isInClause(hit));
    if (region !== undefined) {
      if (telling.has(hit.rule) || asides(hit) !== undefined) return hit.severity;
      return isPossible ? 'suspicious' : 'note';
    }
    if (!isPossible) return isMalicious || hit.isKnown === true ? 'suspicious' : 'note';
    const isCertain = (telling.has(hit.rule) ? likely(hit) : certain(hit)) !== undefined;
    return isMalicious && !isCertain ? 'suspicious' : hit.severity;
  };
  return hits.map((hit) => {
    const severity = severityOf(hit);
    return severity === hit.severity ? hit : { ...hit, severity };
  });
};

/** Rules of what is no request in words; an example of it is marked. */
const encoded: ReadonlySet<string> = new Set(['encoded', 'spelled-out', 'hidden-text']);
/** Rules of characters that no reader of an example sees. */
const unseen: ReadonlySet<string> = new Set(['invisible', 'bidi']);

/**
 * Returns a function that tells whether a text about attacks discusses what a malicious hit found instead of saying it:
 * without the words of others that the text repeats, it makes no such request; or no more than the wording, which all
 * such texts share, resembles one.
 *
 * @param said - what rules and patterns match in the text
 * @param saidAlone - returns the same for the text without the words of others
 */
export const discussedIn = (
  discussion: Discussion,
  hidden: Hidden,
  said: readonly Said[],
  saidAlone: () => readonly Said[],
): ((hit: Hit) => boolean) => {
  const strong = (found: readonly Said[]): ((place: Region) => Region | undefined) =>
    regionLookup(found.filter(({ isStrong, isDiscussed = false }) => isStrong && !isDiscussed));
  let own: ((place: Region) => Region | undefined) | undefined;
  const isSaid = (place: Region): boolean => {
    own ??= strong(saidAlone());
    return own(place) !== undefined;
  };
  let ruled: ((place: Region) => Region | undefined) | undefined;
  const isOnlyWorded = (hit: Hit): boolean => {
    if (hit.rule !== 'wording' || !discussion.isInTopic(hit)) return false;
    ruled ??= strong(said.filter(({ rule }) => rule !== 'wording'));
    return ruled(hit) === undefined;
  };
  return (hit) => {
    if (hit.severity !== 'malicious' || unseen.has(hit.rule) || !discussion.isAboutAt(hit)) return false;
    const region = hidden(hit);
    if (region !== undefined) return discussion.isShown(region);
    if (discussion.isMarked(hit)) return true;
    return !encoded.has(hit.rule) && (!isSaid(hit) || isOnlyWorded(hit));
  };
};
