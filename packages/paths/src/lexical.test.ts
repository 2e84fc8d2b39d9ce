import { describe, expect, it } from 'vitest';
import { checkPathText } from './lexical.js';
import { PathError } from './path-error.js';

const onWindows = (path: string) => () => checkPathText(path, 'win32');

describe('checkPathText', () => {
  it.each([
    '\\\\server\\share',
    '//server/share',
    '\\\\?\\C:\\x',
    '\\\\.\\pipe\\x',
    'C:relative',
    'file.txt:stream',
    'C:\\work\\a:b',
    'nul',
    'src/CON',
    'com1.txt',
    'LPT9 .log',
    'conin$',
    'trailing.',
    'trailing ',
    'a./b',
  ])('refuses %j on Windows', (path) => {
    expect(onWindows(path)).toThrow(PathError);
    expect(onWindows(path)).toThrow(expect.objectContaining({ code: 'invalid-path' }));
  });

  it.each([
    'C:\\work\\a.txt',
    'c:/work',
    'src\\a.ts',
    '..\\x',
    '.',
    'console.log',
    'company',
    '.gitignore',
    'nullable',
  ])('takes %j on Windows', (path) => {
    expect(checkPathText(path, 'win32')).toBe(path);
  });

  it.each(['nul', 'a:b', 'trailing.', '//x'])('accepts %j on systems that give it no special meaning', (path) => {
    expect(checkPathText(path, 'linux')).toBe(path);
  });

  it.each([undefined, null, 7, {}, ['a']])('refuses %j, which is not a string', (path) => {
    expect(() => checkPathText(path)).toThrow(expect.objectContaining({ code: 'invalid-path' }));
  });
});
