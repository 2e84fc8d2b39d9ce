import type { ToolResultOutput } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { ConversationBuilder } from '../service/conversation.js';
import { outputText, shownStatus } from './tool-part.js';

const screenshot: ToolResultOutput = {
  type: 'content',
  value: [
    { type: 'text', text: 'The page:' },
    { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
  ],
};

describe('outputText', () => {
  it('names the parts of a result that are not text, and a denial without a reason', () => {
    expect(outputText(screenshot)).toBe('The page:\n[image-data]');
    expect(outputText({ type: 'execution-denied' })).toBe('Denied');
  });

  it('is what the history of a session shows, too', () => {
    const conversation = new ConversationBuilder();
    const call = { type: 'tool-call', toolCallId: '1', toolName: 'look', input: {} } as const;
    conversation.addMessage({ role: 'assistant', content: [call] }, 't1', 0);
    const result = { type: 'tool-result', toolCallId: '1', toolName: 'look', output: screenshot } as const;
    conversation.addMessage({ role: 'tool', content: [result] }, 't1', 0);
    expect(conversation.entries[0]?.parts).toMatchObject([{ status: 'ok', output: outputText(screenshot) }]);
  });
});

describe('shownStatus', () => {
  it.each([
    ['stored', 'ok'],
    ['timed-out', 'error'],
    ['cancelled', 'interrupted'],
    ['a status of a later release', 'error'],
  ])('shows %s as %s', (status, shown) => {
    expect(shownStatus(status)).toBe(shown);
  });
});
