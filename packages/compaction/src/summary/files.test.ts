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

  it.each(['error-text', 'error-json', 'execution-denied'] as const)('leaves out a call whose result is %s', (type) => {
    const output = type === 'execution-denied' ? { type } : { type, value: 'It failed.' };
    const result = { type: 'tool-result' as const, toolCallId: '1', toolName: 'read', output };
    const messages = [
      { role: 'assistant' as const, content: [call('1', 'read', { path: 'a' }), call('2', 'read', { path: 'b' })] },
      { role: 'tool' as const, content: [result] },
    ];
    expect(touchedFiles(messages, { read: [], modified: [] }, filesOfCall).read).toEqual(['b']);
  });
});
