/** Options of {@link sampleRecording}. */
export interface SampleOptions {
  readonly steps: number;
  readonly tools: number;
  /** Text in the message of the user and in the results of tools. */
  readonly text?: string;
  readonly turn?: string;
}

const tools = ['read', 'grep', 'bash', 'edit'];

/** Creates a synthetic recording in the format of `record()`, with pseudo-random times. */
export const sampleRecording = ({
  steps,
  tools: perStep,
  text = 'Make the failing test pass',
  turn = '7f3a91c2-5b1e',
}: SampleOptions): string => {
  const lines: string[] = [];
  let ms = 1000;
  let seed = 11;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const write = (event: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}): void => {
    lines.push(
      JSON.stringify({ v: 1, seq: lines.length, ms, ...more, event: { turn, at: 1_760_000_000_000 + ms, ...event } }),
    );
  };
  let input = 4000;
  const sum = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  write({ type: 'turn.start', session: '2bd806c97f0e00af', input: [{ role: 'user', content: text }], trigger: 'user' });
  write({ type: 'session.loaded', session: '2bd806c97f0e00af', messages: 0, state: [], repairs: [] });
  for (let step = 1; step <= steps; step += 1) {
    const isLast = step === steps;
    ms += 2 + random(20);
    if (step % 37 === 6) {
      write({ type: 'compaction.started', trigger: 'threshold', tokens: input, limit: 140_000 });
      ms += 1500 + random(2000);
      write({
        type: 'compaction.done',
        trigger: 'threshold',
        strategies: ['summarize'],
        tokensBefore: input,
        tokensAfter: Math.round(input / 4),
        durationMs: 1800,
      });
      input = Math.round(input / 4);
    }
    if (step % 11 === 4) {
      write({ type: 'loop.warning', tool: 'grep', repeats: 3, message: 'The same call for the third time' });
    }
    const asked = ms;
    const ask = (attempt: number): void =>
      write({
        type: 'model.request',
        step,
        attempt,
        model: 'anthropic/claude-sonnet-4-5',
        messages: step * 4,
        system: step === 1 ? [{ text: 'You are a coding agent.' }] : 2,
        tail: [],
        tools,
        settings: {},
      });
    ask(1);
    if (step % 9 === 3) {
      ms += 300 + random(400);
      write(
        {
          type: 'model.error',
          step,
          attempt: 1,
          error: { name: 'APICallError', message: 'Overloaded', code: 'overloaded', status: 529 },
          retrying: true,
        },
        { deltas: 0 },
      );
      ms += 900;
      ask(2);
    }
    const first = ms + 300 + random(900);
    ms = first + 400 + random(4000);
    const calls = isLast
      ? []
      : Array.from({ length: perStep }, (_, index) => ({
          id: `call-${step}-${index}`,
          name: tools[random(tools.length)] ?? 'read',
          input: { path: `src/part-${random(40)}.ts` },
        }));
    const usage = {
      input,
      cacheRead: Math.round(input * 0.85),
      cacheWrite: 600,
      output: 120 + random(700),
      reasoning: 60,
    };
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += usage[key];
    const content = [
      {
        type: 'text',
        text: isLast
          ? 'The test passes now: the parser dropped the last line when it had no newline.'
          : 'Let me look at it.',
      },
      ...calls.map(({ id, name, input: given }) => ({
        type: 'tool-call',
        toolCallId: id,
        toolName: name,
        input: given,
      })),
    ];
    write(
      {
        type: 'model.response',
        step,
        attempt: step % 9 === 3 ? 2 : 1,
        content,
        finishReason: isLast ? 'stop' : 'tool-calls',
        usage,
        model: 'claude-sonnet-4-5-20250929',
      },
      { deltas: 30 + random(80), firstDeltaMs: Math.max(asked, first) },
    );
    input += 900 + random(1500);
    for (const [index, call] of calls.entries()) {
      const denied =
        step % 13 === 7 && index === 0 ? { denied: { reason: 'git push needs approval.', by: 'hooks' } } : {};
      write({ type: 'tool.call', step, index, call, ...denied });
    }
    let longest = 0;
    const began = ms;
    for (const [index, call] of calls.entries()) {
      const took = 20 + random(1800);
      ms = began + took;
      longest = Math.max(longest, took);
      if (step % 13 === 7 && index === 0) {
        write({
          type: 'tool.result',
          step,
          call,
          status: 'denied',
          reason: 'git push needs approval.',
          output: { type: 'error-text', value: 'git push needs approval.' },
        });
      } else if ((step * 3 + index) % 8 === 5) {
        write({
          type: 'tool.result',
          step,
          call,
          status: 'failed',
          durationMs: took,
          error: { name: 'Error', message: 'The command ended with 1.', code: 'exit-1' },
          output: { type: 'error-text', value: 'FAIL src/parser.test.ts\n  expected 3, got 2' },
        });
      } else {
        write({
          type: 'tool.result',
          step,
          call,
          status: 'ok',
          durationMs: took,
          output: { type: 'text', value: `export const part = 1;\n${text}` },
        });
      }
    }
    ms = began + longest;
  }
  write({ type: 'turn.stop', outcome: 'completed', afterStep: steps });
  write({ type: 'turn.end', outcome: 'completed', steps, usage: sum });
  // Tools end in the order of their durations, not of their calls.
  return `${lines.toSorted((left, right) => msOf(left) - msOf(right)).join('\n')}\n`;
};

const msOf = (line: string): number => (JSON.parse(line) as { readonly ms: number }).ms;
