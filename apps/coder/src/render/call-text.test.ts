import { describe, expect, it } from 'vitest';
import { callLines, callText } from './call-text.js';

describe('callText', () => {
  it.each([
    [{ command: 'npm test' }, 'npm test'],
    [{ path: 'src/a.ts', offset: 3 }, 'src/a.ts'],
    [{ path: 'src', pattern: 'foo.*' }, 'foo.* in src'],
    [{ command: 'cat <<X\none\ntwo\nX' }, 'cat <<X one two X'],
    [{ id: 'login-form', summary: 'It works.' }, 'login-form'],
    [{ agent: 'explore', task: 'Where is it?' }, 'Where is it?'],
    [{ amount: 3, to: 'Ada' }, '{"amount":3,"to":"Ada"}'],
    [{ path: 7 }, '{"path":7}'],
    [{}, ''],
    [undefined, ''],
    [null, 'null'],
    ['text', '"text"'],
    [{ command: 'echo \u001B[31mred' }, 'echo [31mred'],
  ])('summarizes %j as "%s"', (input, text) => {
    expect(callText(input)).toBe(text);
  });
});

describe('callLines', () => {
  it.each([[{ command: 'npm test' }], [{ path: 'src/a.ts' }], [{ amount: 3, to: 'Ada' }], [{}], [null], ['text']])(
    'has no lines for %j, which the summary shows as it is',
    (input) => {
      expect(callLines(input)).toEqual([]);
    },
  );

  it.each([
    [{ command: 'ls # all files\nrm -rf /srv' }, ['    command: ls # all files', '      rm -rf /srv']],
    [{ name: 'report', body: 'a secret', to: ['Eve'] }, ['    name: report', '    body: a secret', '    to: ["Eve"]']],
    [{ command: 'rm a\u202Eb\u200B' }, [String.raw`    command: rm a\u{202e}b\u{200b}`]],
    [{ command: 'echo \u001B[2J' }, [String.raw`    command: echo \u{1b}[2J`]],
    [{ command: `ls${' '.repeat(5)}; rm x` }, ['    command: ls     ; rm x']],
  ])('shows what the summary of %j hides', (input, lines) => {
    expect(callLines(input)).toEqual(lines);
  });

  it('says how many lines are not shown', () => {
    const lines = callLines({ path: 'a', content: 'x\n'.repeat(1000) });
    expect(lines).toHaveLength(201);
    expect(lines.at(-1)).toBe('    … 802 more lines are not shown');
  });
});
