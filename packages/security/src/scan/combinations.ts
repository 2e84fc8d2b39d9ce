import { maxHits, overlap, severityWeight, type Hit, type Severity } from './finding.js';

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
