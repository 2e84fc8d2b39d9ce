import { eventTable, UnsupportedOperatorError, type AttachStop } from '@h/bridge';
import { InvalidOptionError } from '@h/options';
import { deny, intercept, retry, stop, type TurnEvent } from '@h/turn';
import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { approval, operator, redact, spy } from '../test/operators.js';
import { toyClaude, type ToyCall } from '../test/toy-claude.js';
import { hookEvents } from './events.js';
import { attach } from './index.js';

const secret = 'hunter2-is-the-password';

const outputOf = fc.constantFrom<unknown>(
  secret,
  { stdout: `out ${secret}`, stderr: secret, interrupted: false },
  { stdout: 'plain', stderr: '', interrupted: false },
  { type: 'text', file: { filePath: 'a', content: `1\n${secret}\n3` } },
  [{ type: 'text', text: secret }],
  [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
);
const callOf = fc.record({
  name: fc.constantFrom('Bash', 'Read', 'rm', 'ask'),
  outcome: fc.oneof(
    { weight: 4, arbitrary: outputOf.map((output) => ({ output })) },
    fc.constant({ error: 'Exit code 1' }),
    fc.constant('invalid' as const),
  ),
});
const stepsOf = fc
  .array(fc.array(callOf, { minLength: 1, maxLength: 4 }), { maxLength: 4 })
  .map((steps) =>
    steps.map((calls, step) =>
      calls.map((call, index): ToyCall => ({ ...call, id: `${step}-${index}`, input: { index } })),
    ),
  );
const rules = () => [
  operator({
    'tool.call': (event) => (event.call.name === 'rm' ? deny(event, 'No.') : undefined),
    'tool.result': () => Promise.resolve(undefined),
  }),
  approval(({ call }) => call.name === 'ask'),
  redact(secret),
];
const person = async (_name: string, { index }: Record<string, unknown>) =>
  Number(index) % 2 === 0
    ? ({ behavior: 'allow', updatedInput: { index } } as const)
    : ({ behavior: 'deny', message: 'The person says no.' } as const);

describe('hooks', () => {
  it('answers every call exactly once and enforces every rule, in any session', async () => {
    await fc.assert(
      fc.asyncProperty(stepsOf, fc.boolean(), async (steps, isAgent) => {
        const events: TurnEvent[] = [];
        const attached = attach({ canUseTool: person }, ...rules(), spy(events));
        const run = await toyClaude(attached, steps, isAgent ? { agent: 'a' } : {});
        const all = steps.flat();
        const allowed = all.filter(
          ({ name, input, outcome }) =>
            outcome !== 'invalid' && name !== 'rm' && (name !== 'ask' || Number(input['index']) % 2 === 0),
        );
        expect(run.ran.toSorted()).toEqual(allowed.map(({ id }) => id).toSorted());
        expect(JSON.stringify([...run.read.values()])).not.toContain(secret);
        const results = events.filter((event) => event.type === 'tool.result').map(({ call }) => call.id);
        expect(results.toSorted()).toEqual(all.map(({ id }) => id).toSorted());
        expect(events.filter(({ type }) => type === 'model.request')).toHaveLength(steps.length + 1);
        expect(events[0]).toMatchObject({ type: 'turn.start', trigger: isAgent ? 'subagent' : 'user' });
        expect(events.filter(({ type }) => type === 'turn.end')).toHaveLength(1);
        expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
      }),
    );
  });

  it('lets nothing run or be read after an operator has thrown at any event', async () => {
    await fc.assert(
      fc.asyncProperty(stepsOf, fc.nat({ max: 40 }), async (steps, at) => {
        let left = at;
        let hasThrown = false;
        const ran: boolean[] = [];
        const crash = intercept('crash', () => ({
          decide: {
            '*': () => {
              left -= 1;
              if (left !== 0) return;
              hasThrown = true;
              throw new RangeError('bug');
            },
            'tool.call': () => void ran.push(hasThrown),
          },
        }));
        const events: TurnEvent[] = [];
        const run = await toyClaude(attach({ canUseTool: person }, ...rules(), crash, spy(events)), steps);
        expect(ran).not.toContain(true);
        expect(JSON.stringify([...run.read.values()])).not.toContain(secret);
        const ends = events.filter((event) => event.type === 'turn.end');
        // The end of the turn is lost if the operator throws at it.
        expect(ends.map(({ outcome }) => outcome).concat('error')[0]).toBe(hasThrown ? 'error' : 'completed');
      }),
    );
  });

  it('stops a session at the step that an operator chooses, and only that session', async () => {
    const limit = operator({
      'tool.call': () => undefined,
      'model.request': ({ step }) => (step > 2 ? stop('max-steps', 'Enough.') : undefined),
    });
    const stops: AttachStop[] = [];
    const attached = attach({ onStop: (ended) => stops.push(ended) }, limit);
    const step = (id: string): ToyCall[] => [{ id, name: 'Bash', input: {}, outcome: { output: 'x' } }];
    const [long, short] = await Promise.all([
      toyClaude(attached, [step('a'), step('b'), step('c')], { session: 'long' }),
      toyClaude(attached, [step('d')], { session: 'short' }),
    ]);
    expect([long.steps, long.isStopped, short.steps, short.isStopped]).toEqual([2, true, 1, false]);
    expect(stops).toEqual([{ session: 'long', outcome: 'max-steps', reason: 'Enough.' }]);
  });

  it('survives an `onStop` that throws, and warns', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const limit = intercept('limit', () => ({ decide: { 'tool.call': () => stop('max-steps', 'Enough.') } }));
    const onStop = (): void => {
      throw new Error('No such log.');
    };
    const call: ToyCall = { id: 'a', name: 'Bash', input: {}, outcome: { output: 'x' } };
    expect(await toyClaude(attach({ onStop }, limit), [[call]], { session: 's' })).toMatchObject({ isStopped: true });
    await vi.waitFor(() =>
      expect(warn).toHaveBeenCalledWith('The option "onStop" of attach() threw: No such log.', {
        code: 'callback-failed',
      }),
    );
    warn.mockRestore();
  });

  it('tells the model why a sub-agent was stopped, and continues the session', async () => {
    const limit = intercept('limit', () => {
      let isChild = false;
      return {
        observe: { 'turn.start': ({ session }) => void (isChild = session.includes('/')) },
        decide: { 'tool.call': () => (isChild ? stop('loop-detected', 'It goes in circles.') : undefined) },
      };
    });
    const attached = attach(limit);
    const call = (id: string, output: unknown): ToyCall => ({ id, name: 'Agent', input: {}, outcome: { output } });
    const child = await toyClaude(attached, [[call('inner', 'x')]], { session: 's', agent: 'sub' });
    const content = [{ type: 'text', text: '' }];
    const outputs = ['sub', 'other'].map((agentId) => call(agentId, { agentId, status: 'completed', content }));
    const parent = await toyClaude(attached, [outputs], { session: 's' });
    expect([child.isStopped, parent.isStopped]).toEqual([true, false]);
    expect(parent.context).toEqual(['An operator stopped the sub-agent: It goes in circles.']);
  });

  it('applies the rules to a result that arrives after its turn has ended', async () => {
    const { options } = attach(
      operator({ 'tool.call': ({ call }) => (call.name === 'loop' ? stop('loop-detected', 'A loop.') : undefined) }),
      redact(secret),
    );
    const { PreToolUse, PostToolUse } = options.hooks;
    const { signal } = new AbortController();
    const base = { session_id: 's', transcript_path: '', cwd: '', prompt_id: 'p', tool_input: {} };
    const before = (id: string, name: string) =>
      PreToolUse?.[0]?.hooks[0]?.({ ...base, hook_event_name: 'PreToolUse', tool_name: name, tool_use_id: id }, id, {
        signal,
      });
    expect(await before('a', 'Bash')).toEqual({});
    expect(await before('b', 'loop')).toMatchObject({ continue: false, stopReason: 'A loop.' });
    const late = await PostToolUse?.[0]?.hooks[0]?.(
      { ...base, hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: 'a', tool_response: secret },
      'a',
      { signal },
    );
    expect(late).toMatchObject({ continue: false, hookSpecificOutput: { updatedToolOutput: '[redacted]' } });
  });

  it('stops if Claude Code runs a call that was denied', async () => {
    const events: TurnEvent[] = [];
    const { options } = attach(operator({ 'tool.call': (event) => deny(event, 'No.') }), spy(events));
    const { PreToolUse, PostToolUse } = options.hooks;
    const { signal } = new AbortController();
    const call = { session_id: 's', transcript_path: '', cwd: '', tool_name: 'Bash', tool_input: {}, tool_use_id: 'a' };
    await PreToolUse?.[0]?.hooks[0]?.({ ...call, hook_event_name: 'PreToolUse' }, 'a', { signal });
    const ran = await PostToolUse?.[0]?.hooks[0]?.(
      { ...call, hook_event_name: 'PostToolUse', tool_response: secret },
      'a',
      { signal },
    );
    expect(ran).toMatchObject({ continue: false });
    expect(JSON.stringify(ran)).not.toContain(secret);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'error', error: { code: 'denial-ignored' } });
  });

  describe('inputs that change after the decision', () => {
    const noEvil = operator({
      'tool.call': (event) => (JSON.stringify(event.call.input).includes('evil') ? deny(event, 'No evil.') : undefined),
    });
    const call: ToyCall = { id: 'a', name: 'Bash', input: { command: 'good' }, outcome: { output: secret } };
    const other = { command: 'other' };
    const evil = { command: 'evil' };

    it('judges the input of another hook when the call has run', async () => {
      const events: TurnEvent[] = [];
      const attached = attach(noEvil, redact(secret), spy(events));
      const allowed = await toyClaude(attached, [[{ ...call, rewritten: other }]]);
      expect(allowed).toMatchObject({ isStopped: false, steps: 1 });
      expect(allowed.read.get('a')).toBe('[redacted]');
      const judged = events.filter((event) => event.type === 'tool.result').map(({ call: { input } }) => input);
      expect(judged).toEqual([call.input, other]);
      expect(events.filter(({ type }) => type === 'turn.start')).toHaveLength(2);
      expect(events.filter(({ type }) => type === 'turn.end')).toHaveLength(2);
      events.length = 0;
      const denied = await toyClaude(attached, [[{ ...call, rewritten: evil }], [{ ...call, id: 'b' }]]);
      expect(denied).toMatchObject({ isStopped: true, steps: 1 });
      expect(denied.read.get('a')).toBe('[withheld]');
      const codes = events.map((event) => (event.type === 'turn.end' ? event.error?.code : undefined));
      expect(codes).toContain('input-not-allowed');
    });

    it.each(['a person', 'another hook'])('judges the input of %s before an approved call runs', async (by) => {
      const inputs = { good: call.input, other, evil };
      for (const gate of [approval(() => true), noEvil]) {
        for (const [name, input] of Object.entries(inputs)) {
          const isGated = gate !== noEvil;
          // An operator denies an approval with an edited input, so that the model repeats the call with it.
          if (isGated && by === 'a person') continue;
          const events: TurnEvent[] = [];
          const attached = attach(
            {
              canUseTool: async (_name, given) => ({
                behavior: 'allow',
                updatedInput: by === 'a person' ? input : given,
              }),
            },
            noEvil,
            gate,
            spy(events),
          );
          const asked = { ...call, isAsked: !isGated, ...(by === 'another hook' && { rewritten: input }) };
          const run = await toyClaude(attached, [[asked]]);
          expect(run.ran).toEqual(name === 'evil' ? [] : ['a']);
          expect(run.read.get('a')).toBe(name === 'evil' ? 'No evil.' : secret);
          expect(run.isStopped).toBe(false);
          expect(events.filter(({ type }) => type === 'turn.end')).toHaveLength(name === 'good' ? 1 : 2);
        }
      }
    });
  });

  it('ends the turns of a session and of its sub-agents when it is forgotten or no longer fits', async () => {
    const events: TurnEvent[] = [];
    const hold = operator({ 'turn.stop': () => new Promise(() => undefined) });
    const attached = attach({ maxSessions: 2 }, hold, spy(events));
    const runs = ['a', 'b', 'c'].map((session) => toyClaude(attached, [], { session }));
    const agent = toyClaude(attached, [], { session: 'c', agent: 'sub' });
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    attached.forget('c');
    await Promise.all([...runs, agent]);
    const ends = events.filter((event) => event.type === 'turn.end');
    expect(ends.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
  });
});

describe('attach', () => {
  it('rejects operators that can only change model calls, and warns with `partial`', () => {
    const failover = operator({ 'model.error': (event) => retry(event), 'model.request': () => undefined }, 'failover');
    expect(() => attach(failover)).toThrow(UnsupportedOperatorError);
    expect(() => attach(failover)).toThrow(/"failover".*model\.error, model\.request.*apps\/model-proxy/s);
    expect(() => attach({ partial: true }, failover)).not.toThrow();
    expect(() => attach(redact('x'))).not.toThrow();
  });

  it('accepts an operator that decides about model calls and about every event', () => {
    const all = operator({ 'model.request': () => undefined, '*': () => undefined }, 'all');
    expect(() => attach(all)).not.toThrow();
  });

  it('names an unknown option, and what is no operator', () => {
    expect(() => attach(undefined as never)).toThrow(/^attach\(\): operator 1 of 1 is undefined\./);
    expect(() => attach({ canUseTools: () => undefined } as never)).toThrow(InvalidOptionError);
  });

  it('has a table of the events that it carries in its README', () => {
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(eventTable(hookEvents));
  });
});
