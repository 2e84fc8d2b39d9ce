import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import * as z from 'zod';
import { ConfigError, keysOf, parseConfig, parseFrontmatter, type ConfigProblem } from './index.js';

const schema = z.strictObject({
  listen: z
    .strictObject({ port: z.number().int().default(80).describe('The port.'), host: z.string().optional() })
    .prefault({}),
  mode: z.enum(['fast', 'safe']).default('safe'),
  servers: z
    .record(z.string(), z.strictObject({ command: z.string(), args: z.array(z.string()).default([]) }))
    .default({}),
  steps: z.array(z.strictObject({ run: z.union([z.string(), z.strictObject({ script: z.string() })]) })).default([]),
});

const problemsOf = (read: () => unknown): readonly ConfigProblem[] => {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message.split('\n')).toHaveLength((error as ConfigError).problems.length);
    return (error as ConfigError).problems;
  }
  return [];
};

describe('parseConfig', () => {
  it('applies the defaults of the schema', () => {
    const defaults = { listen: { port: 80 }, mode: 'safe', servers: {}, steps: [] };
    expect(parseConfig('', 'a.yaml').check(schema)).toEqual(defaults);
    expect(parseConfig('{ "mode": "fast" }', 'a.yaml').check(schema)).toEqual({ ...defaults, mode: 'fast' });
  });

  it.each<[text: string, line: number, column: number, message: string]>([
    ['listn: {}', 1, 1, 'unknown key "listn". Did you mean "listen"?'],
    ['listen:\n  zebra: 1', 2, 3, 'unknown key "listen.zebra". Known keys: port, host.'],
    ['servers:\n  a:\n    comand: x\n    command: y', 3, 5, 'unknown key "servers.a.comand". Did you mean "command"?'],
    ['steps:\n  - run: a\n  - { run: b, rn: c }', 3, 15, 'unknown key "steps.1.rn". Did you mean "run"?'],
    ['steps:\n  - run: { scrip: x, script: y }', 2, 12, 'unknown key "steps.0.run.scrip". Did you mean "script"?'],
    [
      'steps:\n  - run: 1',
      2,
      5,
      '"steps.0.run" is invalid: expected string, received number, or expected object, received number.',
    ],
    ['mode: fst', 1, 1, '"mode" is invalid: Invalid option: expected one of "fast"|"safe".'],
    ['listen: { port: many }', 1, 11, '"listen.port" is invalid: Invalid input: expected number, received string.'],
    ['servers:\n  a: {}', 2, 3, '"servers.a.command" is invalid: Invalid input: expected string, received undefined.'],
    ['- a', 1, 1, 'the content is invalid: Invalid input: expected object, received array.'],
    ['mode: fast\nmode: safe', 2, 1, 'Map keys must be unique.'],
  ])('reports the position of the problem in %j', (text, line, column, message) => {
    expect(problemsOf(() => parseConfig(text, 'a.yaml').check(schema))).toEqual([
      { file: 'a.yaml', line, column, key: expect.any(String) as string, message },
    ]);
  });

  it.each([
    [
      'jobs: { a: { type: crn } }',
      "\"jobs.a.type\" is invalid: Invalid discriminator value. Expected 'cron' | 'wait'.",
    ],
    ['jobs: { a: {} }', "\"jobs.a.type\" is invalid: Invalid discriminator value. Expected 'cron' | 'wait'."],
    ['jobs: { "a b": { type: cron } }', '"jobs.a b" is invalid: must be a word.'],
  ])('names what is expected instead in %j', (text, message) => {
    const job = z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('cron') }),
      z.strictObject({ type: z.literal('wait') }),
    ]);
    const jobs = z.strictObject({ jobs: z.record(z.string().regex(/^\w+$/, 'must be a word'), job) });
    const problems = problemsOf(() => parseConfig(text, 'a.yaml').check(jobs));
    expect(problems.map((problem) => problem.message)).toEqual([message]);
  });

  it('reports all problems at once', () => {
    const problems = problemsOf(() => parseConfig('mode: 1\nlisten: { port: x }\nzebra: 1', 'a.yaml').check(schema));
    expect(problems.map(({ line, key }) => [line, key])).toEqual([
      [2, 'listen.port'],
      [1, 'mode'],
      [3, 'zebra'],
    ]);
  });

  it('refuses aliases that expand to large values', () => {
    const levels = ['a: &a [x, x, x, x, x, x]', 'b: &b [*a, *a, *a, *a, *a, *a]', 'c: [*b, *b, *b, *b, *b, *b]'];
    expect(problemsOf(() => parseConfig(levels.join('\n'), 'a.yaml'))).toHaveLength(1);
  });

  it('throws nothing but ConfigError, with positions inside the file', () => {
    const anyText = fc.oneof(
      fc.string(),
      fc.json().map((json) => stringify(JSON.parse(json))),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        for (const { line, column } of problemsOf(() => parseConfig(text, 'a.yaml').check(schema))) {
          expect(line).toBeGreaterThanOrEqual(1);
          expect(line).toBeLessThanOrEqual(text.split('\n').length);
          expect(column).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});

describe('parseFrontmatter', () => {
  it('separates the fields from the body', () => {
    const { config, body } = parseFrontmatter('---\nmode: fast\n---\n\nYou are a reviewer.\n', 'a.md');
    expect([config.check(schema).mode, body]).toEqual(['fast', 'You are a reviewer.']);
  });

  it('counts lines from the start of the file', () => {
    expect(problemsOf(() => parseFrontmatter('---\nmode: fast\nmod: x\n---\n', 'a.md').config.check(schema))).toEqual([
      { file: 'a.md', line: 3, column: 1, key: 'mod', message: 'unknown key "mod". Did you mean "mode"?' },
    ]);
    expect(problemsOf(() => parseFrontmatter('---\na: [\n---\n', 'a.md'))[0]).toMatchObject({ file: 'a.md' });
  });

  it.each(['no fence', '', '---\nmode: fast\n'])('rejects %j', (text) => {
    expect(problemsOf(() => parseFrontmatter(text, 'a.md'))).toEqual([
      { file: 'a.md', line: 1, column: 1, key: '', message: expect.stringContaining('frontmatter') as string },
    ]);
  });
});

describe('keysOf', () => {
  it('lists every key without keys below it', () => {
    expect(keysOf(schema).map(({ key, type, defaultValue }) => [key, type, defaultValue])).toEqual([
      ['listen.port', 'integer', '80'],
      ['listen.host', 'string', undefined],
      ['mode', '"fast" | "safe"', '"safe"'],
      ['servers.*.command', 'string', undefined],
      ['servers.*.args', 'string[]', '[]'],
      ['steps[].run.script', 'string', undefined],
    ]);
    expect(keysOf(schema)[0]).toMatchObject({ description: 'The port.', isRequired: false });
  });
});
