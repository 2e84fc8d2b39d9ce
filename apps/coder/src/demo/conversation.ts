/** A tool call that the scripted model makes. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** One answer of the scripted model. */
export interface ScriptedStep {
  /** A pattern that the results of the previous step must match; otherwise the script stops. */
  readonly expects?: RegExp;
  readonly text: string;
  readonly calls: readonly ScriptedCall[];
}

/** The prompt of the demo. */
export const demoPrompt = 'A test fails. Find out why and fix it.';

const testCommand: ScriptedCall = { name: 'bash', input: { command: 'node --test' } };

const before = `  const match = /(\\d+)\\s*([dhms])/.exec(text);
  if (match === null) throw new RangeError(\`\${JSON.stringify(text)} is not a duration.\`);
  const [, count, unit] = match;
  return Number(count) * seconds[unit];`;

const after = `  const matches = [...text.matchAll(/(\\d+)\\s*([dhms])/g)];
  if (matches.length === 0) throw new RangeError(\`\${JSON.stringify(text)} is not a duration.\`);
  return matches.reduce((sum, [, count, unit]) => sum + Number(count) * seconds[unit], 0);`;

/** The answers of the scripted model. The tool results are real; the script continues only if they match. */
export const conversation: readonly ScriptedStep[] = [
  {
    text: "I'll look around first.",
    calls: [{ name: 'glob', input: { pattern: '**/*.{js,json,md}' } }],
  },
  {
    expects: /duration\.test\.js/,
    text: 'A small package. I read the code and the test.',
    calls: [
      { name: 'read', input: { path: 'src/duration.js' } },
      { name: 'read', input: { path: 'test/duration.test.js' } },
    ],
  },
  {
    expects: /adds up several units/,
    text: 'Now I run the test to see how it fails.',
    calls: [testCommand],
  },
  {
    expects: /\bfail 1\b/,
    text: '`parseDuration("1h 30m")` gives 3600 instead of 5400: `exec` finds only the first unit and ignores the rest. It must find all units and add them up.',
    calls: [{ name: 'edit', input: { path: 'src/duration.js', old: before, new: after } }],
  },
  {
    text: 'I run the test again.',
    calls: [testCommand],
  },
  {
    expects: /\bfail 0\b/,
    text: 'The test passes now.\n\nThe cause: `parseDuration` read only the first number with a unit, so "1h 30m" counted as one hour. It now finds all of them with `matchAll` and adds them up. Text without a unit is still rejected. I changed `src/duration.js` and nothing else.',
    calls: [],
  },
];

/** Returns the next answer; `undefined` if the tool results do not match the script. */
export const answerTo = (place: number, results: string): ScriptedStep | undefined => {
  const step = conversation[place];
  return step?.expects?.test(results) === false ? undefined : step;
};
