import { call } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { filesOfCall, touchedFiles } from './files.js';

describe('filesOfCall', () => {
  it.each([
    ['read', { path: 'a.ts' }, { read: ['a.ts'] }],
    ['read_file', { file_path: 'a.ts' }, { read: ['a.ts'] }],
    ['write', { path: 'a.ts' }, { modified: ['a.ts'] }],
    ['multi_edit', { filePath: 'a.ts' }, { modified: ['a.ts'] }],
    ['bash', { path: 'a.ts' }, {}],
    ['read', { path: 3 }, {}],
    ['read', 'a.ts', {}],
    ['read', null, {}],
  ])('tells of %s with %j that it touches %j', (name, input, files) => {
    expect(filesOfCall(call('1', name, input))).toEqual(files);
  });
});

describe('touchedFiles', () => {
  it('adds to the earlier files, each once, latest last; a modified file is not listed as read', () => {
    const messages = [
      {
        role: 'assistant' as const,
        content: [call('1', 'read', { path: 'a' }), call('2', 'edit', { path: 'b' }), call('3', 'read', { path: 'c' })],
      },
    ];
    expect(touchedFiles(messages, { read: ['c', 'b', 'd'], modified: ['e'] }, filesOfCall)).toEqual({
      read: ['d', 'a', 'c'],
      modified: ['e', 'b'],
    });
  });
});
