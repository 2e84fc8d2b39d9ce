import { InvalidInputError, memorySessions, type Message } from '@h/turn';
import { describe, expect, it } from 'vitest';
import {
  formatTranscript,
  importTranscript,
  parseTranscript,
  type Transcript,
  type TranscriptFormat,
} from './index.js';

const lines = (...entries: readonly object[]): string => entries.map((entry) => JSON.stringify(entry)).join('\n');
const messagesOf = ({ turns }: Transcript): readonly Message[] => turns.flatMap(({ messages }) => messages);
const saidIn = (transcript: Transcript): readonly unknown[] =>
  messagesOf(transcript).map(({ role, content }) =>
    typeof content === 'string'
      ? `${role}: ${content}`
      : `${role}: ${content.map((part) => ('text' in part ? part.text : part.type)).join(' + ')}`,
  );
const notesOf = ({ notes }: Transcript): readonly string[] =>
  notes.map(({ kind, what, count }) => `${kind}: ${what} (${count})`);

/** Creates entries of Claude Code, each with the previous one as its parent. */
const chain = (...entries: readonly Readonly<Record<string, unknown>>[]): string => {
  let parentUuid: unknown = null;
  const linked = entries.map((entry, index) => {
    const uuid = entry['uuid'] ?? `u${index}`;
    const whole = {
      parentUuid,
      isSidechain: false,
      sessionId: 's-1',
      uuid,
      timestamp: new Date(index * 1000).toISOString(),
      ...entry,
    };
    parentUuid = uuid;
    return whole;
  });
  return lines(...linked);
};
const says = (content: unknown, more: object = {}) => ({ type: 'user', message: { role: 'user', content }, ...more });
const answers = (id: string, ...content: readonly object[]) => ({
  type: 'assistant',
  message: { id, role: 'assistant', model: 'claude', content, usage: { input_tokens: 1, output_tokens: 1 } },
});
const text = (said: string) => ({ type: 'text', text: said });

describe('a session of a current Claude Code', () => {
  it('contains input that was typed during a turn, and distinguishes attachments', () => {
    const transcript = parseTranscript(
      chain(
        says('Fix it.'),
        { type: 'attachment', attachment: { type: 'skill_listing', content: '…' } },
        answers('m1', { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'ls' } }),
        { type: 'progress', data: { type: 'bash_progress' }, toolUseID: 'c1' },
        says([{ type: 'tool_result', tool_use_id: 'c1', content: 'a.txt' }]),
        {
          type: 'attachment',
          attachment: {
            type: 'queued_command',
            prompt: 'And the tests.',
            commandMode: 'prompt',
            origin: { kind: 'human' },
          },
        },
        {
          type: 'attachment',
          attachment: { type: 'queued_command', prompt: [text('Task 7 is done.')], commandMode: 'task-notification' },
        },
        answers('m2', text('Done.')),
        { type: 'queue-operation', operation: 'enqueue', content: 'And the tests.', uuid: 'q' },
      ),
    );
    expect(saidIn(transcript)).toEqual([
      'user: Fix it.',
      'assistant: tool-call',
      'tool: tool-result',
      'user: And the tests.',
      'user: Task 7 is done.',
      'assistant: Done.',
    ]);
    expect(messagesOf(transcript).map(({ metadata }) => metadata?.internal)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      true,
      undefined,
    ]);
    expect(notesOf(transcript)).toEqual([
      'dropped: an attachment of the type skill_listing (1)',
      'dropped: an entry of the type progress (1)',
      'dropped: an entry of the type queue-operation (1)',
    ]);
  });

  it.each([
    ['a segment', { preservedSegment: { headUuid: 'k1', tailUuid: 'k3', anchorUuid: 'sum' } }],
    ['a list', { preservedMessages: { uuids: ['k1', 'k2', 'k3'], anchorUuid: 'sum' } }],
  ])('contains verbatim messages of its last compaction after the summary: %s', (_, compactMetadata) => {
    const transcript = parseTranscript(
      chain(
        says('Long ago.'),
        answers('m1', text('Forgotten.')),
        says('Look.', { uuid: 'k1' }),
        { ...answers('m2', { type: 'tool_use', id: 'c1', name: 'Read', input: {} }), uuid: 'k2' },
        { ...says([{ type: 'tool_result', tool_use_id: 'c1', content: 'seen' }]), uuid: 'k3' },
        {
          type: 'system',
          subtype: 'compact_boundary',
          content: 'Conversation compacted',
          compactMetadata: { trigger: 'auto', ...compactMetadata },
          parentUuid: null,
          uuid: 'boundary',
        },
        says('What was before, in short.', { isCompactSummary: true, uuid: 'sum' }),
        answers('m3', text('On we go.')),
      ),
    );
    expect(saidIn(transcript)).toEqual([
      'user: What was before, in short.',
      'user: Look.',
      'assistant: tool-call',
      'tool: tool-result',
      'assistant: On we go.',
    ]);
    expect(notesOf(transcript)).toContain('dropped: an entry of another branch, or from before a compaction (2)');
  });

  it('omits a segment with inconsistent ends', () => {
    const kept = (preservedSegment: object) =>
      saidIn(
        parseTranscript(
          chain(
            says('Long ago.', { uuid: 'k1' }),
            answers('m1', text('Forgotten.')),
            {
              type: 'system',
              subtype: 'compact_boundary',
              compactMetadata: { preservedSegment },
              parentUuid: null,
              uuid: 'boundary',
            },
            says('In short.', { isCompactSummary: true, uuid: 'sum' }),
          ),
        ),
      );
    expect([
      kept({ headUuid: 'none', tailUuid: 'u1' }),
      kept({ headUuid: 'sum', tailUuid: 'u1' }),
      kept({ tailUuid: 'u1' }),
    ]).toEqual([['user: In short.'], ['user: In short.'], ['user: In short.']]);
    expect(kept({ headUuid: 'k1', tailUuid: 'u1' })).toEqual([
      'user: In short.',
      'user: Long ago.',
      'assistant: Forgotten.',
    ]);
  });

  it('distinguishes messages of Claude Code from those of the user', () => {
    const transcript = parseTranscript(
      chain(
        says('Look.\n<system-reminder>The folder has changed.</system-reminder>'),
        answers('m1', text('I see.')),
        says([text('<system-reminder>The folder has changed.</system-reminder>')]),
        says('<local-command-stdout>ok</local-command-stdout>'),
        says([text('<bash-stdout>a.txt</bash-stdout><bash-stderr></bash-stderr>'), text('What is that?')]),
        answers('m2', text('A file.')),
      ),
    );
    expect(messagesOf(transcript).map(({ metadata }) => metadata?.internal)).toEqual([
      undefined,
      undefined,
      true,
      true,
      undefined,
      undefined,
    ]);
    expect(transcript.turns).toHaveLength(2);
  });

  it('is parsed from the separate file of a sub-agent', () => {
    const side = { isSidechain: true, agentId: 'a1' };
    const transcript = parseTranscript(
      chain({ ...says('Explore.'), ...side }, { ...answers('m1', text('Nothing there.')), ...side }),
    );
    expect([saidIn(transcript), notesOf(transcript)]).toEqual([['user: Explore.', 'assistant: Nothing there.'], []]);
  });

  it('has the title that its user chose', () => {
    const title = (...entries: readonly object[]) =>
      parseTranscript(
        lines(
          ...entries,
          ...chain(says('Hi.'))
            .split('\n')
            .map((line) => JSON.parse(line) as object),
        ),
      ).title;
    expect(title({ type: 'ai-title', aiTitle: 'A greeting', sessionId: 's-1' })).toBe('A greeting');
    expect(
      title(
        { type: 'custom-title', customTitle: 'Mine', sessionId: 's-1' },
        { type: 'ai-title', aiTitle: 'A greeting' },
      ),
    ).toBe('Mine');
  });
});

const item = (payload: object) => ({ timestamp: '2026-01-01T00:00:00Z', type: 'response_item', payload });
const event = (payload: object) => ({ timestamp: '2026-01-01T00:00:00Z', type: 'event_msg', payload });
const message = (role: string, said: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'user' ? 'input_text' : 'output_text', text: said }],
});

describe('a rollout of a current Codex', () => {
  it('omits turns that its user rolled back', () => {
    const transcript = parseTranscript(
      lines(
        { timestamp: '', type: 'session_meta', payload: { id: 's-1' } },
        item(message('user', '<environment_context>…</environment_context>')),
        item(message('user', 'One.')),
        item(message('assistant', 'First.')),
        item(message('user', 'Two.')),
        item({ type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c1' }),
        item({ type: 'function_call_output', call_id: 'c1', output: 'ok' }),
        item(message('user', 'Three.')),
        event({ type: 'thread_rolled_back', num_turns: 2 }),
        item(message('user', 'Two, again.')),
        item(message('assistant', 'Second.')),
      ),
    );
    expect(saidIn(transcript).slice(1)).toEqual([
      'user: One.',
      'assistant: First.',
      'user: Two, again.',
      'assistant: Second.',
    ]);
    expect(notesOf(transcript)).toEqual(['dropped: turns that the user rolled back (1)']);
    const rolledBack = (count: unknown) =>
      saidIn(
        parseTranscript(
          lines(
            item(message('user', 'One.')),
            event({ type: 'thread_rolled_back', num_turns: count }),
            item(message('user', 'Two.')),
          ),
        ),
      );
    expect([rolledBack(99), rolledBack(0), rolledBack('x')]).toEqual([
      ['user: Two.'],
      ['user: One.', 'user: Two.'],
      ['user: One.', 'user: Two.'],
    ]);
  });

  it('preserves the server of a tool and calls without an id, and notes items of Codex only', () => {
    const transcript = parseTranscript(
      lines(
        item(message('user', 'Go.')),
        item({ type: 'function_call', name: 'search', namespace: 'mcp__docs__', arguments: '{"q":1}', call_id: 'c1' }),
        item({
          type: 'local_shell_call',
          id: 'l1',
          call_id: null,
          status: 'completed',
          action: { type: 'exec', command: ['ls'] },
        }),
        item({ type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'found' }] }),
        item({ type: 'function_call_output', call_id: 'l1', output: 'a.txt' }),
        item({ type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } }),
        item({ type: 'ghost_snapshot', ghost_commit: { id: 'abc' } }),
        item(message('assistant', 'Done.')),
        event({ type: 'agent_message', message: 'Done.' }),
      ),
    );
    expect(saidIn(transcript)).toEqual([
      'user: Go.',
      'assistant: tool-call + tool-call',
      'tool: tool-result + tool-result',
      'assistant: Done.',
    ]);
    expect(notesOf(transcript)).toEqual([
      'dropped: an item of the type web_search_call (1)',
      'dropped: an item of the type ghost_snapshot (1)',
    ]);
    const written = formatTranscript(messagesOf(transcript), { format: 'codex' }).text;
    expect(written).toContain('"namespace":"mcp__docs__"');
    expect(messagesOf(parseTranscript(written))).toEqual(messagesOf(transcript));
  });

  it('of the first releases is parsed without wrappers', () => {
    const transcript = parseTranscript(
      lines(
        { id: 's-0', timestamp: '2025-06-01T00:00:00Z', instructions: null },
        { record_type: 'state' },
        message('user', 'Go.'),
        { type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'c1' },
        { type: 'function_call_output', call_id: 'c1', output: 'a.txt' },
        message('assistant', 'One file.'),
      ),
    );
    expect([transcript.format, transcript.session, saidIn(transcript)]).toEqual([
      'codex',
      's-0',
      ['user: Go.', 'assistant: tool-call', 'tool: tool-result', 'assistant: One file.'],
    ]);
  });
});

describe('a rollout of Codex with several agents', () => {
  it('contains messages of other agents, and distinguishes those of Codex and the user', () => {
    const transcript = parseTranscript(
      lines(
        {
          ordinal: 0,
          timestamp: '',
          type: 'session_meta',
          payload: { session_id: 's-1', id: 's-1', history_mode: 'paginated' },
        },
        item(message('user', '<recommended_plugins>…</recommended_plugins>')),
        item(message('user', '<skills> are what I ask about.')),
        item({ ...message('assistant', 'Let me see.'), id: 'msg_1', phase: 'commentary' }),
        item({
          type: 'agent_message',
          author: '/root/a',
          recipient: '/root',
          content: [{ type: 'input_text', text: 'Found one.' }],
        }),
        item({
          type: 'agent_message',
          author: '/root/a',
          recipient: '/root',
          content: [{ type: 'encrypted_content', encrypted_content: 'x' }],
        }),
        {
          timestamp: '2026-01-01T00:00:00Z',
          type: 'inter_agent_communication',
          payload: { author: '/root/b', recipient: '/root', content: 'Found none.' },
        },
        { timestamp: '', type: 'world_state', payload: {} },
      ),
    );
    expect(messagesOf(transcript).map(({ metadata }) => metadata?.internal)).toEqual([
      true,
      undefined,
      undefined,
      true,
      true,
    ]);
    expect(saidIn(transcript).slice(1)).toEqual([
      'user: <skills> are what I ask about.',
      'assistant: Let me see.',
      'user: Found one.',
      'user: Found none.',
    ]);
    expect(notesOf(transcript)).toEqual([
      'dropped: a part of the type encrypted_content in a message (1)',
      'dropped: an entry of the type world_state (1)',
    ]);
  });

  it('contains spoken input of its user', () => {
    const spoken = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_audio', audio_url: 'data:audio/wav;base64,aGk=' }],
    };
    expect(messagesOf(parseTranscript(lines(item(spoken))))).toEqual([
      { role: 'user', content: [{ type: 'file', data: 'aGk=', mediaType: 'audio/wav' }] },
    ]);
  });

  it('omits the summary of an encrypted compaction', () => {
    const compacted = (payload: object) =>
      saidIn(
        parseTranscript(
          lines(
            item(message('user', 'Before.')),
            { timestamp: '', type: 'compacted', payload },
            item(message('user', 'After.')),
            item(message('assistant', 'Yes.')),
          ),
        ),
      );
    const after = ['user: After.', 'assistant: Yes.'];
    expect(compacted({ message: '' })).toEqual(after);
    expect(compacted({ message: '', replacement_history: [] })).toEqual(after);
    expect(
      compacted({
        message: '',
        replacement_history: [message('user', 'Before.'), { type: 'compaction', encrypted_content: 'x' }],
      }),
    ).toEqual(['user: Before.', ...after]);
    expect(compacted({ message: 'In short.' })).toEqual(['user: In short.', ...after]);
  });

  it('of an old release is parsed from one object', () => {
    const items = [
      message('user', 'Go.'),
      { id: 'f1', type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{"command":["ls"]}' },
      { type: 'function_call_output', call_id: 'c1', output: 'a.txt' },
    ];
    const transcript = parseTranscript(
      JSON.stringify(
        { session: { timestamp: '2025-04-20T00:00:00Z', id: 's-0', instructions: '' }, items },
        undefined,
        2,
      ),
    );
    expect([transcript.format, transcript.session, saidIn(transcript)]).toEqual([
      'codex',
      's-0',
      ['user: Go.', 'assistant: tool-call', 'tool: tool-result'],
    ]);
  });
});

describe('a session of pi', () => {
  it('of a descendant is parsed with string contents and arguments', () => {
    const entry = (said: object) => ({ type: 'message', message: said });
    const transcript = parseTranscript(
      `${JSON.stringify({ type: 'title', v: 1, title: 'demo' })}       \n${lines(
        { type: 'session', version: 3, id: 's-1' },
        entry({ role: 'user', content: 'One.' }),
        entry({ role: 'assistant', content: 'First.' }),
        entry({ role: 'user', content: 'Two.' }),
        entry({
          role: 'assistant',
          content: [{ type: 'toolCall', id: 'c1', name: 'bash', arguments: '{"command":"ls"}' }],
        }),
        entry({ role: 'toolResult', toolCallId: 'c1', toolName: 'bash', content: 'a.txt' }),
      )}`,
    );
    expect(saidIn(transcript)).toEqual([
      'user: One.',
      'assistant: First.',
      'user: Two.',
      'assistant: tool-call',
      'tool: tool-result',
    ]);
    expect(messagesOf(transcript).slice(3)).toMatchObject([
      { content: [{ input: { command: 'ls' } }] },
      { content: [{ output: { type: 'text', value: 'a.txt' } }] },
    ]);
  });

  it('of the first version is parsed with the index of its compaction', () => {
    const entry = (role: string, said: string) => ({
      type: 'message',
      timestamp: 1,
      message: { role, content: role === 'user' ? said : [text(said)] },
    });
    const transcript = parseTranscript(
      lines(
        { type: 'session', id: 's-1', timestamp: '2026-01-01T00:00:00Z' },
        entry('user', 'One.'),
        entry('assistant', 'First.'),
        entry('user', 'Two.'),
        entry('assistant', 'Second.'),
        { type: 'compaction', timestamp: 1, summary: 'In short.', firstKeptEntryIndex: 3, tokensBefore: 9 },
        entry('user', 'Three.'),
      ),
    );
    expect(saidIn(transcript)).toEqual(['user: In short.', 'user: Two.', 'assistant: Second.', 'user: Three.']);
    expect(notesOf(transcript)).toEqual(['dropped: an entry from before a compaction (2)']);
  });

  it('omits commands that its user hid from the model', () => {
    const command = (more: object) => ({
      type: 'message',
      message: { role: 'bashExecution', command: 'ls', output: 'a.txt', ...more },
    });
    const transcript = parseTranscript(
      lines(
        { type: 'session', id: 's-1', version: 3 },
        command({}),
        command({ command: 'cat .env', excludeFromContext: true }),
      ),
    );
    expect(JSON.stringify(transcript.turns)).not.toContain('.env');
    expect(notesOf(transcript)).toContain('dropped: a user command that was not sent to the model (1)');
  });
});

describe('messages of the AI SDK', () => {
  const call = (toolCallId: string) => ({ type: 'tool-call', toolCallId, toolName: 'run', input: {} });
  const result = (toolCallId: string, output: object) => ({ type: 'tool-result', toolCallId, toolName: 'run', output });

  it('are parsed with approvals and results of every kind', () => {
    const outputs = [
      { type: 'text', value: 'a' },
      { type: 'json', value: { a: [1, null] } },
      { type: 'error-text', value: 'a' },
      { type: 'error-json', value: { a: 1 } },
      { type: 'execution-denied', reason: 'No.' },
      { type: 'content', value: [text('a'), { type: 'media', data: 'aGk=', mediaType: 'image/png' }] },
    ];
    const messages = [
      { role: 'user', content: 'Go.' },
      {
        role: 'assistant',
        content: [
          ...outputs.map((_, index) => call(`c${index}`)),
          { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c4' },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-approval-response', approvalId: 'a1', approved: false, reason: 'No.' },
          ...outputs.map((output, index) => result(`c${index}`, output)),
        ],
      },
      { role: 'assistant', content: [text('Done.')] },
    ];
    const transcript = parseTranscript(JSON.stringify(messages));
    expect([messagesOf(transcript), notesOf(transcript)]).toEqual([messages, []]);
    expect(JSON.parse(formatTranscript(messagesOf(transcript), { format: 'ai-sdk' }).text)).toEqual(messages);
  });

  it('of a user interface are rejected with instructions', () => {
    const ui = JSON.stringify([{ id: '1', role: 'user', parts: [text('Hi.')] }]);
    expect(() => parseTranscript(ui)).toThrow(/None of the messages is a ModelMessage; .* convertToModelMessages/);
  });
});

describe('a hostile transcript', () => {
  const everyFormat: readonly TranscriptFormat[] = ['claude-code', 'codex', 'pi', 'openai-chat', 'ai-sdk'];

  it('is rejected if it is nested too deeply', () => {
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    const inChat = `[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"custom","custom":{"name":"x","input":${deep}}}]},{"role":"tool","tool_call_id":"1","content":"ok"}]`;
    expect(() => parseTranscript(inChat, { format: 'openai-chat' })).toThrow(InvalidInputError);
    for (const format of everyFormat) {
      try {
        parseTranscript(deep, { format });
      } catch (error) {
        expect(error, format).toBeInstanceOf(InvalidInputError);
      }
    }
  });

  it('gives a short report for wrong types and many unknown types', () => {
    const strange = {
      type: { toString: 1, valueOf: 1 },
      role: { toString: 1 },
      payload: { type: { toString: 1 } },
      message: { role: { toString: 1 }, content: [{ type: { toString: 1 } }] },
    };
    const many = Array.from({ length: 5000 }, (_, index) => ({ ...strange, type: `${index} ${'x'.repeat(500)}` }));
    for (const format of everyFormat.slice(0, 4)) {
      const { notes } = parseTranscript(
        lines(
          strange,
          { ...strange, type: 'user' },
          { ...strange, type: 'message' },
          { ...strange, type: 'response_item' },
          ...many,
        ),
        { format },
      );
      expect(JSON.stringify(notes).length, format).toBeLessThan(60_000);
    }
  });

  it('preserves members that are named like prototypes', async () => {
    const input = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    const transcript = parseTranscript(
      `[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool-call","toolCallId":"1","toolName":"x","input":${input}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"1","toolName":"x","output":{"type":"json","value":${input}}}]}]`,
    );
    const sessions = memorySessions();
    await importTranscript(sessions, 'a', transcript);
    expect(JSON.stringify(sessions.messages('a'))).toContain(`"input":${input}`);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    const written = formatTranscript(sessions.messages('a'), { format: 'ai-sdk' }).text;
    expect(JSON.stringify(JSON.parse(written))).toContain(`"input":${input}`);
  });

  it('is repaired, with a note, if it contains lone surrogates', () => {
    const transcript = parseTranscript('[{"role":"user","content":"a\\ud800b"},{"role":"assistant","content":"c"}]');
    expect(saidIn(transcript)).toEqual(['user: a\ufffdb', 'assistant: c']);
    expect(transcript.notes).toMatchObject([{ kind: 'repaired' }]);
  });

  it('is parsed in linear time if it has one huge message', () => {
    const count = 10_000;
    const calls = Array.from({ length: count }, (_, index) =>
      item({ type: 'function_call', name: 'x', arguments: '{}', call_id: `c${index}` }),
    );
    const results = Array.from({ length: count }, (_, index) =>
      item({ type: 'function_call_output', call_id: `c${index}`, output: '' }),
    );
    const transcript = parseTranscript(
      [item(message('user', 'Go.')), ...calls, ...results].map((entry) => JSON.stringify(entry)).join('\n'),
    );
    expect(messagesOf(transcript).map(({ content }) => content.length)).toEqual([3, count, count]);
  });
});
