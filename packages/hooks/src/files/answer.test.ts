import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerOf } from './answer.js';
import { commandEvents, parseHookFile, type CommandDefinition } from './definitions.js';
import { isConditionMet, isMatch } from './matcher.js';

const definition = (event: CommandDefinition['event']): CommandDefinition => ({
  event,
  matcher: '',
  command: 'check',
  timeoutSeconds: 1,
  async: false,
  once: false,
  source: 'a.json',
  scope: 'user',
});

describe('answerOf', () => {
  it('accepts any output, and treats exit code 2 as a block', () => {
    const json = fc.oneof(
      fc.json(),
      fc
        .record({ decision: fc.anything(), continue: fc.anything(), hookSpecificOutput: fc.object() })
        .map((value) => JSON.stringify(value) ?? ''),
      fc.string(),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...commandEvents),
        fc.integer({ min: 0, max: 255 }),
        json,
        fc.string(),
        (event, exitCode, stdout, stderr) => {
          const answer = answerOf(definition(event), { exitCode, stdout, stderr });
          if (exitCode === 2) expect(answer.blocked).toBeTruthy();
          else expect(answer.command).toBe('check');
        },
      ),
    );
  });

  it.each([
    ['{"decision":"block","reason":"No."}', { blocked: 'No.' }],
    ['{"decision":"approve"}', { permission: 'allow' }],
    ['"{\\"decision\\":\\"block\\",\\"reason\\":\\"No.\\"}"', { blocked: 'No.' }],
    ['{"hookSpecificOutput":{"permissionDecision":"defer"}}', { permission: 'ask' }],
    ['{"systemMessage":"Hi"}', { notices: ['Hi'] }],
    ['{"unknown":1}', { notices: [] }],
    ['just text', { notices: [] }],
    ['{ not: "JSON" }', { notices: [], blocked: undefined }],
    [
      '{"hookSpecificOutput":{"permissionDecision":"deny"',
      { blocked: expect.stringContaining('incomplete') as string },
    ],
    ['"{\\"decision\\":\\"block\\"', { blocked: expect.stringContaining('incomplete') as string }],
    ['Checking.\n{"decision":"block"}', { blocked: expect.stringContaining('other output') as string }],
    ['{}\n{"decision":"block"}\nDone.', { blocked: expect.stringContaining('other output') as string }],
    ['Checking.\n{\n  "reason": "No.",\n  "decision": "block"\n}', { blocked: expect.any(String) as string }],
    ['\u001b[0m{"decision":"block"}', { blocked: expect.any(String) as string }],
    ['Checking.\n{"reason":"No." "decision":"block"}', { blocked: expect.any(String) as string }],
    ['Checking.\n{ /* No. */ "decision":"block"}', { blocked: expect.any(String) as string }],
    ['Checking.\n{"level":"info"}', { notices: [], blocked: undefined }],
  ])('parses %s', (stdout, expected) => {
    const answer = answerOf(definition('PreToolUse'), { exitCode: 0, stdout, stderr: '' });
    expect({ blocked: undefined, ...answer }).toMatchObject(expected);
  });

  it.each([
    ['PostToolUse', { notices: [expect.stringContaining('incomplete')], blocked: undefined }],
    ['Stop', { notices: [expect.stringContaining('incomplete')], blocked: undefined }],
    ['SessionStart', { notices: [expect.stringContaining('incomplete')], blocked: undefined }],
    ['UserPromptSubmit', { blocked: expect.stringContaining('incomplete') as string }],
  ] as const)('reports an incomplete verdict for %s, and blocks what it could have blocked', (event, expected) => {
    const answer = answerOf(definition(event), { exitCode: 0, stdout: '{"decision":"bl', stderr: '' });
    expect({ blocked: undefined, ...answer }).toMatchObject(expected);
  });

  it('passes other incomplete JSON as context where plain output is context', () => {
    const answer = answerOf(definition('UserPromptSubmit'), { exitCode: 0, stdout: '{"name":"h"', stderr: '' });
    expect(answer).toMatchObject({ notices: [], context: '{"name":"h"' });
  });

  it.each(['Answer, "continue": yes.', 'Notes: {"decision": "use tabs"}'])(
    'passes prose that quotes a member of a verdict as context: %s',
    (stdout) => {
      const answer = answerOf(definition('UserPromptSubmit'), { exitCode: 0, stdout, stderr: '' });
      expect(answer).toEqual({ command: expect.any(String) as string, notices: [], context: stdout });
    },
  );

  it('uses the JSON output of a command despite a nonzero exit code', () => {
    expect(
      answerOf(definition('PreToolUse'), {
        exitCode: 1,
        stdout: '{"decision":"block","reason":"No."}',
        stderr: 'Oops',
      }),
    ).toMatchObject({ blocked: 'No.', notices: [] });
  });

  it('truncates messages for the model', () => {
    const { context = '' } = answerOf(definition('SessionStart'), {
      exitCode: 0,
      stdout: 'x'.repeat(100_000),
      stderr: '',
    });
    expect(context.length).toBeLessThan(10_100);
  });
});

describe('parseHookFile', () => {
  it('never throws, and returns only definitions with commands', () => {
    const file = fc.oneof(
      fc.anything(),
      fc.record({ hooks: fc.dictionary(fc.constantFrom(...commandEvents, 'Other'), fc.anything()) }),
    );
    fc.assert(
      fc.property(file, (settings) => {
        const { definitions } = parseHookFile(settings, 'a.json', 'project');
        for (const { command } of definitions) expect(command).not.toBe('');
      }),
    );
  });
});

describe('matchers and conditions', () => {
  it('never throw for any input', () => {
    const names = fc.array(fc.string({ maxLength: 12 }), { minLength: 1, maxLength: 2 });
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), names, fc.anything(), (text, list, input) => {
        expect(typeof isMatch(text, list)).toBe('boolean');
        expect(typeof isConditionMet(text, list, input)).toBe('boolean');
      }),
    );
  });

  it('run a hook if a pattern cannot judge a compound command', () => {
    expect(isConditionMet('Bash(git push *)', ['Bash'], { command: 'cd x && git push' })).toBe(true);
    expect(isConditionMet('Bash(git push *)', ['Bash'], { command: 'git status' })).toBe(false);
  });
});
