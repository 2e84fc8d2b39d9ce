import { describe, expect, it } from 'vitest';
import { callText } from './call-text.js';

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
