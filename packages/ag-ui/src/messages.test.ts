import type { Message, ToolMessage } from '@ag-ui/client';
import type { FileData } from '@h/turn';
import { expect, it } from 'vitest';
import { groupFormat } from './messages.js';

const url = 'https://example.com/a.png';
const mimeType = 'image/png';

it.each<[FileData, object]>([
  [
    { type: 'data', data: new Uint8Array([104, 105]) },
    { type: 'image', source: { type: 'data', value: 'aGk=', mimeType } },
  ],
  [url, { type: 'image', source: { type: 'url', value: url, mimeType } }],
  [{ openai: 'file-1' }, { type: 'text', text: '[image/png]' }],
])('writes the file %j of an operator', (data, part) => {
  const content = [{ type: 'file' as const, data, mediaType: mimeType }];
  expect(groupFormat.write({ role: 'user', content })).toMatchObject([{ messages: [{ content: [part] }] }]);
});

it.each<[unknown, string]>([
  ['text', 'text'],
  [null, ''],
  [undefined, ''],
  [42, '42'],
  [{ count: 1 }, '{"count":1}'],
  [[{ type: 'text', text: 'a' }], 'a'],
])('reads the content %j of a result', (content, value) => {
  const message = { id: '1', role: 'tool', toolCallId: 'a', content } as unknown as ToolMessage;
  expect(groupFormat.read({ messages: [message], toolName: 'read' })).toMatchObject({
    content: [{ output: { type: 'text', value } }],
  });
  const user = { id: '1', role: 'user', content } as unknown as Message;
  expect(groupFormat.read({ messages: [user] }).role).toBe('user');
});
