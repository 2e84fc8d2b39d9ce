/** Builders for transcripts in the forms that agents write. */

const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 2, 9, 0, seconds)).toISOString();
const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** A step of a session: a call with its result. */
export interface Step {
  readonly name: string;
  readonly input: unknown;
  /** Absent for a call without a result. */
  readonly result?: string | undefined;
  readonly isError?: boolean | undefined;
  /** Seconds since the beginning. */
  readonly second?: number | undefined;
  readonly usage?: {
    readonly input: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
    readonly output: number;
  };
}

const someUsage = { input: 10, cacheRead: 900, cacheWrite: 90, output: 50 };

/** A session of Claude Code: each answer is two entries that repeat the usage, the first with a placeholder. */
export const claudeCode = (steps: readonly Step[], { session = 'one', prompt = 'Fix it.' } = {}): string =>
  [
    line({ type: 'summary', summary: 'A title' }),
    line({
      type: 'user',
      uuid: `${session}-u`,
      sessionId: session,
      timestamp: at(0),
      message: { role: 'user', content: prompt },
    }),
    ...steps.flatMap(({ name, input, result, isError, second, usage = someUsage }, index) => {
      const entry = { sessionId: session, requestId: `r${index}`, timestamp: at(second ?? index * 10) };
      const message = { id: `${session}-m${index}`, model: 'claude-sonnet-4-5', role: 'assistant' };
      const tokens = {
        input_tokens: usage.input,
        cache_read_input_tokens: usage.cacheRead,
        cache_creation_input_tokens: usage.cacheWrite,
      };
      const id = `${session}-t${index}`;
      const answer = (uuid: string, content: unknown, output: number): string =>
        line({
          ...entry,
          type: 'assistant',
          uuid,
          message: { ...message, content: [content], usage: { ...tokens, output_tokens: output } },
        });
      return [
        answer(`${id}-a`, { type: 'text', text: 'I look.' }, 1),
        answer(`${id}-b`, { type: 'tool_use', id, name, input }, usage.output),
        ...(result === undefined
          ? []
          : [
              line({
                ...entry,
                type: 'user',
                uuid: `${id}-r`,
                message: {
                  role: 'user',
                  content: [{ type: 'tool_result', tool_use_id: id, content: result, is_error: isError }],
                },
              }),
            ]),
      ];
    }),
  ].join('');

/** A rollout of Codex: totals grow, and each is reported twice. */
export const codex = (steps: readonly Step[]): string => {
  let total = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  const entry = (type: string, payload: unknown, index: number): string =>
    line({ timestamp: at(index), type, payload });
  return [
    entry('session_meta', { id: 'codex-1' }, 0),
    entry('turn_context', { model: 'gpt-5' }, 0),
    entry('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix it.' }] }, 0),
    ...steps.flatMap(({ input, result, usage = someUsage }, index) => {
      const sent = usage.input + usage.cacheRead + usage.cacheWrite;
      total = {
        input_tokens: total.input_tokens + sent,
        cached_input_tokens: total.cached_input_tokens + usage.cacheRead,
        output_tokens: total.output_tokens + usage.output,
        total_tokens: total.total_tokens + sent + usage.output,
      };
      const tokens = entry('event_msg', { type: 'token_count', info: { total_token_usage: total } }, index);
      const call = { type: 'function_call', call_id: `c${index}`, name: 'shell', arguments: JSON.stringify(input) };
      const output = JSON.stringify({ output: result, metadata: { exit_code: 0 } });
      return [
        entry('response_item', call, index),
        tokens,
        entry('response_item', { type: 'function_call_output', call_id: `c${index}`, output }, index),
        tokens,
      ];
    }),
  ].join('');
};

/** A session of pi. */
export const pi = (steps: readonly Step[]): string =>
  [
    line({ type: 'session', version: 3, id: 'pi-1', timestamp: at(0) }),
    line({ type: 'message', id: 'u', timestamp: at(0), message: { role: 'user', content: 'Fix it.' } }),
    ...steps.flatMap(({ name, input, result, isError, usage = someUsage }, index) => [
      line({
        type: 'message',
        id: `a${index}`,
        timestamp: at(index),
        message: {
          role: 'assistant',
          provider: 'openai',
          model: 'gpt-5',
          usage,
          content: [{ type: 'toolCall', id: `p${index}`, name, arguments: input }],
        },
      }),
      line({
        type: 'message',
        id: `r${index}`,
        timestamp: at(index),
        message: {
          role: 'toolResult',
          toolCallId: `p${index}`,
          toolName: name,
          content: [{ type: 'text', text: result }],
          isError,
        },
      }),
    ]),
  ].join('');

/** Messages of OpenAI, as one JSON value. */
export const openAI = (steps: readonly Step[]): string =>
  JSON.stringify([
    { role: 'user', content: 'Fix it.' },
    ...steps.flatMap(({ name, input, result }, index) => [
      {
        role: 'assistant',
        content: null,
        model: 'gpt-5',
        usage: { prompt_tokens: 1000, completion_tokens: 50, prompt_tokens_details: { cached_tokens: 900 } },
        tool_calls: [{ id: `o${index}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
      },
      { role: 'tool', tool_call_id: `o${index}`, content: result },
    ]),
  ]);

/** Messages of the AI SDK, one per line. */
export const aiSdk = (steps: readonly Step[]): string =>
  [
    line({ role: 'user', content: 'Fix it.' }),
    ...steps.flatMap(({ name, input, result }, index) => [
      line({ role: 'assistant', content: [{ type: 'tool-call', toolCallId: `s${index}`, toolName: name, input }] }),
      line({
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: `s${index}`, toolName: name, output: { type: 'text', value: result } },
        ],
      }),
    ]),
  ].join('');

/** A trajectory of OpenHands. */
export const openHands = (steps: readonly Step[]): string => {
  const total = { prompt_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, completion_tokens: 0 };
  const after = (usage: NonNullable<Step['usage']>) => {
    total.prompt_tokens += usage.input + usage.cacheRead + usage.cacheWrite;
    total.cache_read_tokens += usage.cacheRead;
    total.cache_write_tokens += usage.cacheWrite;
    total.completion_tokens += usage.output;
    return { model: 'gpt-5', ...total };
  };
  return JSON.stringify([
    { id: 0, source: 'user', action: 'message', args: { content: 'Fix it.' }, timestamp: at(0) },
    ...steps.flatMap(({ input, result, isError, usage = someUsage }, index) => [
      {
        id: 2 * index + 1,
        source: 'agent',
        action: 'run',
        args: input,
        timestamp: at(index),
        llm_metrics: {
          accumulated_token_usage: after(usage),
        },
      },
      {
        id: 2 * index + 2,
        source: 'environment',
        cause: 2 * index + 1,
        observation: 'run',
        content: result,
        extras: { metadata: { exit_code: isError === true ? 1 : 0 } },
      },
    ]),
  ]);
};
