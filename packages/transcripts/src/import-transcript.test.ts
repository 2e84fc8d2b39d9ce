import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileSessions } from '@h/session';
import { harness, memorySessions, reply, textOf } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { conversations } from '../test/conversations.js';
import { formatTranscript, importTranscript, parseTranscript, type Transcript } from './index.js';

const room = { errors: true, resultFiles: true, system: true, internal: false, freeOrder: true };

const transcript: Transcript = {
  format: 'pi',
  notes: [],
  turns: [
    {
      startedAt: 10,
      endedAt: 20,
      model: 'm',
      usage: { input: 5, cacheRead: 1, cacheWrite: 0, output: 2, reasoning: 0 },
      messages: [
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: 'Hello.' },
      ],
    },
    {
      startedAt: 30,
      endedAt: 40,
      usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
      messages: [
        { role: 'user', content: 'And now?' },
        { role: 'assistant', content: 'Nothing.' },
      ],
    },
  ],
};

describe('importTranscript', () => {
  it('stores any conversation message by message', async () => {
    await fc.assert(
      fc.asyncProperty(conversations(room), async (messages) => {
        const sessions = memorySessions();
        const given = parseTranscript(formatTranscript(messages, { format: 'ai-sdk' }).text, { format: 'ai-sdk' });
        const imported = await importTranscript(sessions, 'alice', given);
        expect(sessions.messages('alice')).toEqual(messages);
        expect(imported).toEqual({ session: 'alice', turns: given.turns.length, messages: messages.length });
      }),
      { numRuns: 60 },
    );
  });

  it('creates turns that are listed and archived, and that an agent continues', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'h-transcripts-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const sessions = fileSessions({ directory, fsync: 'never' });
    await importTranscript(sessions, 'alice', transcript);
    expect(await sessions.list()).toMatchObject([
      { session: 'alice', createdAt: 10, updatedAt: 40, turns: 2, firstInput: 'Hi.', state: 'idle' },
    ]);
    const model = scriptedModel(['At your service.']);
    const { outcome } = await reply(harness({ model, sessions }).pipe().turn({ session: 'alice', input: 'Go on.' }));
    expect(outcome).toBe('completed');
    expect([...(model.requests[0]?.messages ?? [])].map(textOf)).toEqual([
      'Hi.',
      'Hello.',
      'And now?',
      'Nothing.',
      'Go on.',
    ]);
    const archive = [];
    for await (const turn of sessions.archive('alice')) archive.push(turn);
    expect(archive.slice(0, 2)).toMatchObject([
      {
        startedAt: 10,
        endedAt: 20,
        usage: { input: 5, cacheRead: 1, output: 2 },
        messages: transcript.turns[0]?.messages,
      },
      { messages: transcript.turns[1]?.messages },
    ]);
  });

  it('rejects a session that has turns, and closes it', async () => {
    const sessions = memorySessions();
    await importTranscript(sessions, 'alice', transcript);
    await expect(importTranscript(sessions, 'alice', transcript)).rejects.toMatchObject({ code: 'session-not-empty' });
    await expect(
      importTranscript(memorySessions({ bob: [{ role: 'user', content: 'Earlier.' }] }), 'bob', transcript),
    ).rejects.toMatchObject({ code: 'session-not-empty' });
    expect(sessions.messages('alice')).toHaveLength(4);
    await sessions.open('alice');
  });

  it('stores nothing if a message is invalid', async () => {
    const sessions = memorySessions();
    const broken = {
      ...transcript,
      turns: [
        ...transcript.turns,
        {
          usage: transcript.turns[0]?.usage,
          messages: [
            { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'x', input: 1n }] },
          ],
        },
      ],
    };
    await expect(importTranscript(sessions, 'alice', broken as unknown as Transcript)).rejects.toMatchObject({
      code: 'unwritable-record',
    });
    expect(sessions.messages('alice')).toEqual([]);
  });
});
