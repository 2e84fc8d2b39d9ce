import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { parseArguments, type CoderArguments } from './arguments.js';

const manifest = createRequire(import.meta.url)('../package.json') as { readonly version: string };

const parse = (...words: readonly string[]): CoderArguments => {
  const given = parseArguments(words);
  if ('text' in given) throw new Error('It gave information instead.');
  return given;
};

describe('parseArguments', () => {
  it('has a default for every option', () => {
    expect(parse()).toEqual({
      sandbox: 'host',
      approve: 'on-risk',
      fallback: [],
      continue: false,
      sessions: false,
      network: false,
      branch: false,
      plan: false,
      maxSessions: 100,
      mcp: [],
      toolset: 'full',
      reasoning: 'auto',
      maxSteps: 50,
      json: false,
      demo: false,
    });
  });

  it('parses the command of the documentation', () => {
    expect(
      parse('--model', 'anthropic/claude-sonnet-4-5', '--workspace', '../my-repo', 'fix the failing test'),
    ).toMatchObject({
      model: 'anthropic/claude-sonnet-4-5',
      workspace: '../my-repo',
      prompt: 'fix the failing test',
    });
  });

  it('accepts a prompt without quotes, followed by options', () => {
    expect(parse('fix', 'the', 'test', '--json')).toMatchObject({ prompt: 'fix the test', json: true });
  });

  it('accumulates repeatable options', () => {
    expect(parse('--mcp', 'one --flag', '--mcp', 'two').mcp).toEqual(['one --flag', 'two']);
    expect(parse().mcp).toEqual([]);
  });

  it('parses every other option', () => {
    const words = [
      '--sandbox',
      'docker',
      '--image',
      'node:24',
      '--network',
      '--branch',
      '--toolset',
      'read-only',
      '--max-steps',
      '7',
      '--base-url',
      'http://x/v1',
      '-',
    ];
    expect(parse(...words)).toEqual({
      ...parse(),
      sandbox: 'docker',
      image: 'node:24',
      network: true,
      branch: true,
      toolset: 'read-only',
      maxSteps: 7,
      baseUrl: 'http://x/v1',
      prompt: '-',
    });
  });

  it('parses the options of a plan', () => {
    expect(parse('--plan', '--check', 'make test', '--max-sessions', '5', 'Build', 'a', 'shop')).toEqual({
      ...parse(),
      plan: true,
      check: 'make test',
      maxSessions: 5,
      prompt: 'Build a shop',
    });
  });

  it.each([
    [['--check', 'x'], /^--check requires --plan/],
    [['--max-sessions', '3', 'x'], /^--max-sessions requires --plan/],
    [
      ['--toolset', 'all'],
      /'--toolset <name>' argument 'all' is invalid\. Allowed choices are full, minimal, read-only/,
    ],
    [['--plan', '--max-sessions', '0'], /^--max-sessions/],
    [['--plan', '--branch'], /Remove --branch/],
    [['--plan', '--continue'], /Remove --continue/],
    [['--plan', '--resume', 'x'], /Remove --continue and --resume/],
    [['--plan', '--toolset', 'minimal'], /Remove --toolset/],
    [['--plan', '--demo'], /Remove --plan/],
  ])('rejects contradicting options %j', (words, message) => {
    expect(() => parseArguments(words)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(message) as string }),
    );
  });

  it('ignores an empty prompt', () => {
    expect(parse('  ')).not.toHaveProperty('prompt');
  });

  it.each([
    [['--modle', 'x'], "unknown option '--modle' (Did you mean --model?)"],
    [['--zzz'], "unknown option '--zzz'. See --help."],
    [
      ['--sandbox', 'vm'],
      "option '--sandbox <mode>' argument 'vm' is invalid. Allowed choices are host, bubblewrap, docker.",
    ],
    [['--model'], "option '-m, --model <provider/model>' argument missing"],
    [['--max-steps', 'many'], "option '--max-steps <count>' argument 'many' is invalid. Expected a whole number."],
    [['--max-steps', '-1'], "option '--max-steps <count>' argument '-1' is invalid. Expected a whole number."],
    [['--max-steps', '1.5'], "option '--max-steps <count>' argument '1.5' is invalid. Expected a whole number."],
  ])('rejects %j in one line', (words, message) => {
    expect(() => parseArguments(words)).toThrow(expect.objectContaining({ code: 'usage', message }));
  });

  it('returns the help and the version', () => {
    const help = parseArguments(['--help']);
    expect(help).toHaveProperty(
      'text',
      expect.stringMatching(
        /^Usage: npm start -- \[options\] \[prompt\.\.\.\][^]*--sandbox <mode>[^]*ANTHROPIC_API_KEY[^]*Exit codes: 0 done/,
      ),
    );
    expect(parseArguments(['--version'])).toEqual({ text: `${manifest.version}\n` });
  });
});
