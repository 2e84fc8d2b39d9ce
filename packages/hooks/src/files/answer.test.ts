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
  it('makes something of any output, and a block of exit code 2, whatever is written', () => {
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
  ])('reads %s', (stdout, expected) => {
    expect(answerOf(definition('PreToolUse'), { exitCode: 0, stdout, stderr: '' })).toMatchObject(expected);
  });

  it('goes by the JSON of a command that ended with another exit code', () => {
    expect(
      answerOf(definition('PreToolUse'), {
        exitCode: 1,
        stdout: '{"decision":"block","reason":"No."}',
        stderr: 'Oops',
      }),
    ).toMatchObject({ blocked: 'No.', notices: [] });
  });

  it('keeps what the model reads short', () => {
    const { context = '' } = answerOf(definition('SessionStart'), {
      exitCode: 0,
      stdout: 'x'.repeat(100_000),
      stderr: '',
    });
    expect(context.length).toBeLessThan(10_100);
  });
});

describe('parseHookFile', () => {
  it('never throws, and finds definitions only where there are commands', () => {
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
  it('never throw, whatever they are', () => {
    const names = fc.array(fc.string({ maxLength: 12 }), { minLength: 1, maxLength: 2 });
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), names, fc.anything(), (text, list, input) => {
        expect(typeof isMatch(text, list)).toBe('boolean');
        expect(typeof isConditionMet(text, list, input)).toBe('boolean');
      }),
    );
  });

  it('run a hook where a pattern cannot tell what a compound command does', () => {
    expect(isConditionMet('Bash(git push *)', ['Bash'], { command: 'cd x && git push' })).toBe(true);
    expect(isConditionMet('Bash(git push *)', ['Bash'], { command: 'git status' })).toBe(false);
  });
});
