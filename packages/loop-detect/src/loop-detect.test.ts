import {
  harness,
  intercept,
  memorySessions,
  proceed,
  reply,
  type SessionStore,
  type ToolResultOutput,
  type TurnEventOf,
} from '@h/turn';
import { call, event, failure, ok, request, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import { from, lastValueFrom, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { again, asking, failing, resultTexts, run, stamp, storeOf, type Ran } from '../test/turns.js';
import { loopDetect, type LoopDetectOptions } from './index.js';

const inVirtualTime = (): void => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 0 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
};

const levelsOf = (ran: Ran): readonly string[] =>
  ran.all('loop.warning').map(({ level, detector }) => `${level} ${detector}`);

describe.each([
  ['at once', undefined],
  ['later', 1],
])('loopDetect, with a model that answers %s', (_, delayMs) => {
  inVirtualTime();
  const model = delayMs === undefined ? {} : { delayMs };

  it('does not change an ordinary turn', async () => {
    const ran = await run(
      [asking(['read', { path: 'a' }], ['read', { path: 'b' }]), asking(['edit']), asking(['test']), 'Done.'],
      { model },
    );
    expect(ran.end).toMatchObject({ outcome: 'completed', steps: 4 });
    expect(levelsOf(ran)).toEqual([]);
    expect(resultTexts(ran).join()).not.toContain('[Loop warning]');
  });

  it('warns in the result, denies twice, requests a summary, then ends the turn', async () => {
    const ran = await run(
      [...again(6, asking(['test'])), 'I changed a.ts; the test still fails.', 'Never asked for.'],
      { model },
    );
    expect(ran.end).toMatchObject({
      outcome: 'loop-detected',
      reason: expect.stringContaining('test has given the same result 5 times') as string,
      steps: 7,
    });
    expect(levelsOf(ran)).toEqual(['warn no-progress', 'block no-progress', 'break no-progress']);
    expect(ran.tools.ran).toHaveLength(4);
    const results = resultTexts(ran);
    expect(results.map((text) => text.includes('[Loop warning]'))).toEqual([false, false, true, false, false, false]);
    expect(results[4]).toMatch(/^Not run\. test has given .* If the same call comes again, the turn ends\.$/);
    expect(results[5]).toMatch(/The turn ends here\.$/);
    const last = ran.model.requests.at(-1);
    expect(last?.settings.toolChoice).toBe('none');
    expect(last?.tools).toEqual(ran.model.requests[0]?.tools);
    expect(last?.tail).toMatchObject([
      { role: 'user', metadata: { internal: true }, content: expect.stringContaining('Do not call tools') as string },
    ]);
    expect(ran.messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: [{ text: 'I changed a.ts; the test still fails.' }],
    });
  });

  it('warns about a report in other words, although each of the calls is new and succeeds, and ends the turn', async () => {
    const parts = ['All of it is done', 'The work is complete', 'It has been verified', 'No change is open'];
    const reports = Array.from({ length: 24 }, (_each, round) =>
      asking(['report', { text: `${parts[round % 4]}. ${parts[Math.floor(round / 4) % 4]}${'!'.repeat(round)}` }]),
    );
    const ran = await run([...reports, 'Everything was done.'], {
      model,
      tools: { report: 'Accepted.' },
      options: { warnEvery: 100 },
    });
    expect(levelsOf(ran)).toEqual(['warn rework', 'block rework', 'break rework']);
    expect(ran.end).toMatchObject({
      outcome: 'loop-detected',
      reason: expect.stringContaining('to say the same in other words') as string,
    });
    expect(resultTexts(ran).findIndex((text) => text.includes('[Loop warning]'))).toBeLessThan(15);
  });

  it('continues if the model makes progress after a denial', async () => {
    const ran = await run([...again(5, asking(['test'])), asking(['edit', { text: 'x' }]), asking(['test']), 'Done.'], {
      model,
    });
    expect(ran.end).toMatchObject({ outcome: 'completed' });
    expect(levelsOf(ran)).toEqual(['warn no-progress', 'block no-progress']);
    expect(ran.tools.ran).toHaveLength(6);
  });

  it('interrupts an answer that repeats itself, and retries it once with advice', async () => {
    const ran = await run(['I will now do it, at once and in full. '.repeat(60), 'It is done.'], { model });
    expect(ran.end).toMatchObject({ outcome: 'completed', steps: 1 });
    expect(levelsOf(ran)).toEqual(['block chanting']);
    expect(ran.all('model.error')).toMatchObject([{ retrying: true, attempt: 1, error: { code: 'chanting' } }]);
    expect(ran.model.requests[1]?.tail).toMatchObject([
      { metadata: { internal: true }, content: expect.stringContaining('repeated itself') as string },
    ]);
    expect(ran.messages.at(-1)).toMatchObject({ content: [{ text: 'It is done.' }] });
    expect(ran.all('model.delta').filter(({ attempt }) => attempt === 1).length).toBeLessThan(200);
    expect([ran.model.active, ran.model.requests.length]).toEqual([0, 2]);
  });

  it('ends a turn whose answers keep repeating themselves', async () => {
    const chant = 'I will now do it, at once and in full. '.repeat(60);
    const ran = await run([chant, chant, 'Never asked for.'], { model });
    expect(ran.end).toMatchObject({
      outcome: 'loop-detected',
      reason: expect.stringContaining('repeated itself') as string,
    });
    expect(levelsOf(ran)).toEqual(['block chanting', 'break chanting']);
    expect([ran.model.active, ran.model.requests.length]).toEqual([0, 2]);
  });

  it('resets when the user sends a message', async () => {
    let given = 0;
    const ran = await run([...again(4, asking(['test'])), ...again(4, asking(['test'])), 'Done.'], {
      model,
      onEvent: (seen, agent) => {
        if (seen.type !== 'tool.result') return;
        given += 1;
        if (given === 4) agent.steer('alice', 'Once more, please.');
      },
    });
    expect(ran.end).toMatchObject({ outcome: 'completed' });
    expect(levelsOf(ran)).toEqual(['warn no-progress', 'warn no-progress']);
  });

  it('continues a turn that was about to end when the user sends a message', async () => {
    const ran = await run([...again(6, asking(['test'])), 'A summary.', asking(['read', { path: 'a' }]), 'Done.'], {
      model,
      onEvent: (seen, agent) => {
        if (seen.type === 'model.request' && seen.settings.toolChoice === 'none') {
          agent.steer('alice', 'Try it another way.');
        }
      },
    });
    expect(ran.end).toMatchObject({ outcome: 'completed' });
    expect(ran.model.requests.at(-1)?.settings.toolChoice).toBeUndefined();
  });
});

describe('loopDetect', () => {
  inVirtualTime();
  it('denies all calls of a step, but counts only the looping call', async () => {
    const script = [
      ...again(4, asking(['test'])),
      asking(['read', { path: 'b' }], ['test']),
      asking(['read', { path: 'b' }]),
      'Done.',
    ];
    const ran = await run(script);
    expect(ran.end.outcome).toBe('completed');
    expect(
      ran
        .all('tool.call')
        .filter(({ denied }) => denied)
        .map(({ call: { name }, denied }) => [name, denied?.by]),
    ).toEqual([
      ['read', 'loop-detect'],
      ['test', 'loop-detect'],
    ]);
    expect(resultTexts(ran).at(-3)).toContain('requested together with a call that goes in circles');
    expect(ran.tools.ran.map(({ name }) => name)).toEqual(['test', 'test', 'test', 'test', 'read']);
    expect(ran.all('loop.warning').filter(({ level }) => level === 'block')).toHaveLength(1);
  });

  it('does not count a denial against other calls of the same step', async () => {
    const read = asking(['read', { path: 'b' }]);
    const script = [
      read,
      read,
      read,
      ...again(4, asking(['test'])),
      asking(['read', { path: 'b' }], ['test']),
      read,
      asking(['edit']),
      'Done.',
    ];
    const ran = await run(script);
    expect(ran.end.outcome).toBe('completed');
    expect(ran.tools.ran.filter(({ name }) => name === 'read')).toHaveLength(4);
  });

  it('requests one summary, however often an operator continues the turn', async () => {
    const model = scriptedModel([...again(6, asking(['test'])), ...again(5, 'A summary.')]);
    const more = intercept('more', () => ({
      decide: {
        'turn.stop': (stopping) =>
          stopping.outcome === 'completed' ? proceed([{ role: 'user', content: 'Go on.' }], 'more') : undefined,
      },
    }));
    const { outcome } = await reply(
      harness({ model, tools: scriptedTools({ test: failing() }) })
        .pipe(more, loopDetect())
        .turn({ session: 'alice', input: 'Go.' }),
    );
    expect([outcome, model.requests.length]).toEqual(['loop-detected', 7]);
  });

  it('does not reset for internal messages', async () => {
    let given = 0;
    const ran = await run([...again(6, asking(['test'])), 'A summary.'], {
      onEvent: (seen, agent) => {
        if (seen.type === 'tool.result' && (given += 1) === 4) {
          agent.steer('alice', { role: 'user', content: 'A note.', metadata: { internal: true } });
        }
      },
    });
    expect(ran.end.outcome).toBe('loop-detected');
  });

  it('counts an interrupted answer once, although more of it arrives', async () => {
    const sessions = memorySessions();
    const slow: SessionStore = {
      ...sessions,
      open: async (...given) => {
        const session = await sessions.open(...given);
        return {
          ...session,
          append: (record) =>
            new Promise<void>((resolve) => setTimeout(resolve, 30)).then(() => session.append(record)),
          close: () => session.close(),
        };
      },
    };
    const ran = await run(['ny '.repeat(60), 'It is done.'], {
      options: { chanting: { minChars: 20, rounds: 2 } },
      model: { delayMs: 1 },
      sessions: slow,
    });
    expect(levelsOf(ran)).toEqual(['block chanting']);
    expect(ran.end.outcome).toBe('completed');
  });

  it('ignores its own warnings when it compares results', async () => {
    const ran = await run([...again(6, asking(['read'])), 'Summary.'], { options: { warnEvery: 1 } });
    expect(resultTexts(ran).map((text) => text.includes('[Loop warning]'))).toEqual([
      false,
      false,
      true,
      true,
      false,
      false,
    ]);
    expect(ran.end.outcome).toBe('loop-detected');
  });

  it('repeats a warning after warnEvery results, and adds a different one immediately', async () => {
    const options = (warnEvery?: number): LoopDetectOptions => ({
      detectors: { 'no-progress': { block: Infinity }, cycle: false, breaker: false, repeat: false },
      ...(warnEvery && { warnEvery }),
    });
    const warned = async (warnEvery?: number) => {
      const ran = await run([...again(12, asking(['test'])), ...again(3, asking(['read'])), 'Done.'], {
        options: options(warnEvery),
      });
      return ran
        .all('tool.result')
        .flatMap(({ output }, index) => (JSON.stringify(output).includes('[Loop warning]') ? [index + 1] : []));
    };
    expect(await warned()).toEqual([3, 8, 15]);
    expect(await warned(2)).toEqual([3, 5, 7, 9, 11, 15]);
  });

  it('ends without a summary if `summary` is false', async () => {
    const ran = await run([...again(6, asking(['test'])), 'Never asked for.'], { options: { summary: false } });
    expect(ran.end).toMatchObject({ outcome: 'loop-detected', steps: 6 });
    expect(ran.model.requests).toHaveLength(6);
  });

  it('runs no tool that the model calls in place of a summary', async () => {
    const ran = await run([...again(6, asking(['test'])), asking(['read'], ['edit']), 'Never asked for.']);
    expect(ran.end).toMatchObject({ outcome: 'loop-detected' });
    expect(
      ran
        .all('tool.result')
        .slice(-2)
        .map(({ status }) => status),
    ).toEqual(['cancelled', 'cancelled']);
    expect(ran.tools.ran).toHaveLength(4);
    expect(ran.model.requests).toHaveLength(7);
  });

  it('ends as loop-detected with the reason if the summary fails', async () => {
    const ran = await run([...again(6, asking(['test'])), { error: failure('Overloaded.', { status: 529 }) }]);
    expect(ran.end).toMatchObject({
      outcome: 'loop-detected',
      error: { message: 'Overloaded.' },
      reason: expect.stringContaining('same result') as string,
    });
  });

  it('ends if the summary repeats itself', async () => {
    const ran = await run([
      ...again(6, asking(['test'])),
      'I will now do it, at once and in full. '.repeat(60),
      'Never asked for.',
    ]);
    expect(ran.end).toMatchObject({ outcome: 'loop-detected' });
    expect(ran.model.requests).toHaveLength(7);
  });

  it('ends the turn after ten calls of tools that do not exist', async () => {
    const ran = await run([
      ...Array.from({ length: 10 }, (_, index) => asking([`tool_${'abcdefghij'[index]}`])),
      'A summary.',
      'Never asked for.',
    ]);
    expect(ran.end).toMatchObject({ outcome: 'loop-detected', steps: 11 });
    expect(levelsOf(ran).at(-1)).toBe('break unknown-tool');
  });

  it('counts denials of other operators, and ends a turn that only has denials', async () => {
    const model = scriptedModel([...again(6, asking(['push'])), 'I may not push.', 'Never asked for.']);
    const policy = intercept('policy', () => ({
      decide: { 'tool.call': (asked) => ({ ...asked, denied: { reason: 'Not allowed.', by: 'policy' } }) },
    }));
    const { outcome, steps } = await reply(
      harness({ model, tools: scriptedTools({ push: 'pushed' }) })
        .pipe(policy, loopDetect())
        .turn({ session: 'alice', input: 'Push.' }),
    );
    expect({ outcome, steps }).toEqual({ outcome: 'loop-detected', steps: 7 });
  });

  it('judges calls by the input from the model, even if an operator changes it', async () => {
    let round = 0;
    const stamping = intercept('stamp', () => ({
      decide: { 'tool.call': (asked) => ({ ...asked, call: { ...asked.call, input: { stamp: (round += 1) } } }) },
    }));
    const model = scriptedModel([...again(6, asking(['read'])), 'A summary.']);
    const { outcome } = await reply(
      harness({ model, tools: scriptedTools({ read: 'contents' }) })
        .pipe(stamping, loopDetect())
        .turn({ session: 'alice', input: 'Go.' }),
    );
    expect(outcome).toBe('loop-detected');
  });

  it('uses the declared effects of tools', async () => {
    const checking = async (effect: 'read-only' | 'local-write') => {
      const script = Array.from({ length: 12 }, (_, index) => [asking(['frob', { index }]), asking(['test'])]).flat();
      const tools = scriptedTools({ frob: (input) => JSON.stringify(input), test: failing() }, { frob: { effect } });
      const notices: TurnEventOf<'loop.warning'>[] = [];
      const agent = harness({ model: scriptedModel([...script, 'Done.']), tools }).pipe(
        loopDetect(),
        intercept('spy', () => ({ observe: { 'loop.warning': (seen) => void notices.push(seen) } })),
      );
      await reply(agent.turn({ session: 'alice', input: 'Go.' }));
      return notices.map(({ detector }) => detector);
    };
    expect(await checking('local-write')).toEqual([]);
    expect(await checking('read-only')).toContain('repeat');
  });

  it('ends the third of three equal steps with maxRepeatedSteps 3, and warns in the second', async () => {
    const pair = asking(['status'], ['read']);
    const turned = asking(['read'], ['status']);
    const ran = await run([pair, turned, pair, 'A summary.', 'Never asked for.'], { options: { maxRepeatedSteps: 3 } });
    expect(ran.end).toMatchObject({
      outcome: 'loop-detected',
      steps: 4,
      reason: expect.stringContaining('3 times in a row') as string,
    });
    expect(levelsOf(ran)).toEqual(['warn repeated-steps', 'break repeated-steps']);
    expect(ran.tools.ran).toHaveLength(4);
    const other = await run([pair, asking(['read'], ['status', { id: 1 }]), pair, turned, 'Done.'], {
      options: { maxRepeatedSteps: 3 },
    });
    expect(other.end.outcome).toBe('completed');
    expect((await run([pair, pair, pair, 'Done.'])).end.outcome).toBe('completed');
  });

  it('denies the third equal call in a row with doomLoopThreshold 3, and continues', async () => {
    let round = 0;
    const tools = { tail: () => `line ${'abcdef'[(round += 1)]}` };
    const ran = await run([...again(3, asking(['tail'])), 'I stop looking.'], {
      options: { doomLoopThreshold: 3 },
      tools,
    });
    expect(ran.end.outcome).toBe('completed');
    expect(levelsOf(ran)).toEqual(['block doom-loop']);
    expect(ran.tools.ran).toHaveLength(2);
  });

  it('ignores repeated text if chanting is off, and applies its thresholds', async () => {
    const chant = 'I will now do it, at once and in full. '.repeat(60);
    expect((await run([chant], { options: { chanting: false } })).end.outcome).toBe('completed');
    expect(levelsOf(await run(['ny '.repeat(40), 'Done.'], { options: { chanting: { minChars: 60 } } }))).toEqual([
      'block chanting',
    ]);
    expect(levelsOf(await run(['ny '.repeat(40)]))).toEqual([]);
  });

  it('allows the model to read again what a compaction removed', async () => {
    const script = [...again(4, asking(['read'])), ...again(2, asking(['read'])), 'Done.'];
    let requests = 0;
    const shrink = intercept('shrink', () => ({
      decide: {
        'model.request': (asked) =>
          (requests += 1) === 5
            ? [{ type: 'history.replace', origin: 'shrink', messages: [{ role: 'user', content: 'Summary.' }] }, asked]
            : undefined,
      },
    }));
    const { outcome } = await reply(
      harness({ model: scriptedModel(script), tools: scriptedTools({ read: 'contents' }) })
        .pipe(shrink, loopDetect())
        .turn({ session: 'alice', input: 'Go.' }),
    );
    expect(outcome).toBe('completed');
  });

  it('ignores tools that the provider runs', async () => {
    const part = (id: string) => ({ ...call(id, 'web_search', { q: 'x' }), providerExecuted: true });
    const result = (id: string) => ({
      type: 'tool-result' as const,
      toolCallId: id,
      toolName: 'web_search',
      output: { type: 'text' as const, value: 'same' },
    });
    const script = Array.from({ length: 8 }, (_, index) =>
      response(part(`p${index}`), result(`p${index}`), call(`c${index}`, 'edit', { index })),
    );
    expect(levelsOf(await run([...script, 'Done.']))).toEqual([]);
  });

  it.each<[ToolResultOutput, RegExp]>([
    [{ type: 'text', value: 'x' }, /^x\n\n\[Loop warning\] read/],
    [{ type: 'error-text', value: 'x' }, /^x\n\n\[Loop warning\]/],
    [{ type: 'json', value: { a: 1 } }, /^\{"a":1\}\n\n\[Loop warning\]/],
    [{ type: 'error-json', value: { a: 1 } }, /^\{"a":1\}\n\n\[Loop warning\]/],
    [{ type: 'content', value: [{ type: 'text', text: 'x' }] }, /"text":"x".*\[Loop warning\]/],
  ])('appends its warning to an output such as %o', async (output, text) => {
    const isError = output.type.startsWith('error');
    const read = () =>
      isError ? { status: 'failed' as const, error: failure('No.'), output } : { status: 'ok' as const, output };
    const ran = await run([...again(3, asking(['read'])), 'Done.'], { tools: { read } });
    expect(resultTexts(ran)[2]).toMatch(text);
    const last = ran.all('tool.result')[2];
    expect(last?.output.type.startsWith('error')).toBe(isError);
  });

  it('journals the fingerprint of an output that it or a later operator changed', async () => {
    const sessions = storeOf([]);
    const operators = [loopDetect(), stamp()];
    await run([...again(2, asking(['test'], ['read'])), asking(['edit']), 'Done.'], { sessions, operators });
    const noted = sessions.journal.flatMap(({ event: { type, annotations } }) =>
      annotations === undefined ? [] : [[type, annotations['loop-detect']]],
    );
    const print = expect.objectContaining({ outcome: expect.any(Number) as number }) as object;
    expect(noted).toEqual([
      ['history.append', { c1: print }],
      ['history.append', { 'c1-2': print }],
    ]);
  });

  it.each([
    { maxSteps: 3 },
    { maxRepeatedSteps: 1 },
    { chanting: true },
    { chanting: { laps: 3 } },
    { warnEvery: 0 },
    { summary: 'yes' },
    { tools: { a: { b: 1 } } },
  ])('refuses %o', (options) => {
    expect(() => loopDetect(options as LoopDetectOptions)).toThrow(
      expect.objectContaining({
        code: 'invalid-option',
        message: expect.stringContaining('loopDetect()') as string,
      }) as Error,
    );
  });

  it('keeps no state between turns', async () => {
    const operator = loopDetect();
    for (let turn = 0; turn < 4; turn += 1) {
      const agent = harness({
        model: scriptedModel([...again(2, asking(['test'])), 'Done.']),
        tools: scriptedTools({ test: failing() }),
      }).pipe(operator);
      const { outcome, messages } = await reply(agent.turn({ session: 'alice', input: 'Go.' }));
      expect([outcome, JSON.stringify(messages).includes('[Loop warning]')]).toEqual(['completed', false]);
    }
  });

  it('judges results if no other events arrive, as in a bridge', async () => {
    const results = ['1', '2', '3'].map((id) =>
      event('tool.result', {
        step: 1,
        call: { id, name: 'read', input: {} },
        status: 'ok',
        output: { type: 'text', value: 'x' },
      }),
    );
    const passed = await lastValueFrom(
      from(results).pipe(loopDetect({ detectors: { repeat: { warn: 3 } } }), toArray()),
    );
    expect(passed.map(({ type, annotations }) => [type, annotations !== undefined])).toEqual([
      ['tool.result', false],
      ['tool.result', false],
      ['tool.result', true],
      ['loop.warning', false],
    ]);
  });
});

describeOperator(() => loopDetect(), { changes: ['tool.result'] });

describe('loopDetect, with a host that reports the calls of an answer one by one', () => {
  /** A step whose answer contains the first of two calls only. The other one, `test`, always has the same result. */
  const step = (index: number) => {
    const first = { id: `a${index}`, name: 'read', input: { path: 'a' } };
    const second = { id: `b${index}`, name: 'test', input: {} };
    return [
      event('model.request', { ...request(), step: index, attempt: 1 }),
      event('model.response', { ...response(call(first.id, first.name, first.input)), step: index, attempt: 1 }),
      event('tool.call', { step: index, index: 0, call: first }),
      event('tool.call', { step: index, index: 1, call: second }),
      event('tool.result', { ...ok(`The text, as of step ${index % 2}.`), step: index, call: first }),
      event('tool.result', { ...ok('1 failing'), step: index, call: second }),
    ];
  };

  it('denies a call that repeats although the answer did not contain it', async () => {
    const left = await lastValueFrom(
      from(Array.from({ length: 6 }, (_, index) => step(index + 1)).flat()).pipe(loopDetect(), toArray()),
    );
    const denied = left.flatMap((given) => (given.type === 'tool.call' && given.denied ? [given.call.name] : []));
    expect(denied).toContain('test');
  });
});
