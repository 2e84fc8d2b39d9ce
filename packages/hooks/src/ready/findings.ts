/** The findings of a linter or type checker, one per line. */
export type CheckFindings = readonly string[];

/** The number of findings of each kind, at any position. */
export type FindingCounts = ReadonlyMap<string, number>;

/** `src/a.ts:10:5`, `src/a.ts(10,5):`, and `  10:5  error` below the name of a file. */
const positioned = /^[^\s:(][^:(]{0,300}(?::\d+(?::\d+)?\b|\(\d+(?:,\d+)?\))|^\s{1,8}\d+:\d+\s+\S/;

/** Colors and other control sequences of a terminal. */
// oxlint-disable-next-line eslint/no-control-regex -- the expression matches control characters
const control = /\u001B\[[0-9;?]*[ -/]*[@-~]|[\u0000-\u0008\u000B-\u001F\u007F]/g;

/**
 * Returns the findings in the output of a check: lines that contain a position in a file. Output in another format is
 * one finding.
 */
export const findingsOf = (output: string): CheckFindings => {
  const lines = output
    .replaceAll(control, '')
    .split('\n')
    .map((line) => line.trimEnd().slice(0, 500).toWellFormed());
  const findings = lines.filter((line) => positioned.test(line));
  const text = lines.join('\n').trim();
  return findings.length > 0 || text === '' ? findings : [text];
};

/** Removes the position of a finding, which changes when lines above it are added or removed. */
const kindOf = (finding: string): string =>
  finding
    .trim()
    .replace(/:\d+(?::\d+)?\b|\(\d+(?:,\d+)?\)/, '')
    .replace(/^\d+:\d+\s+/, '')
    .replaceAll(/\s+/g, ' ');

/** Counts findings by kind. */
export const countsOf = (findings: CheckFindings): FindingCounts => {
  const counts = new Map<string, number>();
  for (const finding of findings) counts.set(kindOf(finding), (counts.get(kindOf(finding)) ?? 0) + 1);
  return counts;
};

/** Returns the new findings: of each kind, the last ones that exceed the earlier count. */
export const newFindings = (findings: CheckFindings, before: FindingCounts): CheckFindings => {
  const old = new Map(before);
  return findings.filter((finding) => {
    const kind = kindOf(finding);
    const left = old.get(kind) ?? 0;
    old.set(kind, left - 1);
    return left <= 0;
  });
};
