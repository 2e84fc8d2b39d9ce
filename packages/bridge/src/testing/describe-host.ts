import { handledEvents } from '@h/turn/bridge';
import { intercept, type PipelineOperator } from '@h/turn';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { UnsupportedOperatorError, type HostEvents } from '../host-events.js';
import { describeNesting } from './describe-nesting.js';
import { describePauses } from './describe-pauses.js';
import type { HostSetup, HostUnderTest, Wire } from './host-under-test.js';
import { ModelServer, type Answer, type ScriptStep } from './model-server.js';
import { asking, compacting, denying, failingAt, redacting, retrying, rewriting, stoppingAt } from './operators.js';
import { defaultOperators, scenesOf, secret } from './packages.js';
import { isPrefix, messagesIn, texts } from './request-body.js';
import { calls, keys, Stage, text } from './stage.js';

const waitInput = { path: 'a.txt' };

/**
 * Holds a bridge to its contract with a real agent of its host and a scripted model over HTTP: in every wire format,
 * with complete answers and, if the host streams, with streamed ones.
 *
 * Events that the table of the host does not carry are tested for the error that rejects such operators.
 *
 * @example
 * ```ts
 * describeHost({ name: 'LangChain', events: middlewareEvents, wires: ['chat-completions'], streams: true, start });
 * ```
 */
export const describeHost = (host: HostUnderTest): void => {
  const modes = host.streams ? [false, true] : [false];
  for (const wire of host.wires) {
    for (const isStreamed of modes) {
      describe(`${host.name}, ${wire}, ${isStreamed ? 'streamed' : 'complete'} answers`, () => {
        describeMode(host, wire, isStreamed);
      });
    }
  }
};

const describeMode = (under: HostUnderTest, wire: Wire, isStreamed: boolean): void => {
  const server = new ModelServer();
  beforeAll(() => server.start());
  afterAll(() => server.stop());

  /** Runs a scene, and expects an error instead if the host does not carry what the operators need. */
  const scene = (
    title: string,
    operators: () => readonly PipelineOperator[],
    act: (stage: Stage) => Promise<void>,
    options: HostSetup['options'] = {},
  ): void => {
    it(title, async () => {
      const stage = new Stage(server, isStreamed);
      server.begin([]);
      const given = operators();
      const setup = { operators: given, options, wire };
      const [unsupported] = given.map((operator) => unsupportedBy(under, operator)).filter(isDefined);
      if (unsupported) {
        await expect(stage.start(under, setup)).rejects.toThrow(UnsupportedOperatorError);
        await expect(stage.start(under, setup)).rejects.toMatchObject(unsupported);
        return;
      }
      await stage.start(under, setup);
      try {
        await act(stage);
      } finally {
        await stage.close();
      }
    });
  };
  /** A scene in which the bridge runs tools. */
  const sceneOfTools: typeof scene = (...given) => {
    if (under.runsTools !== false) scene(...given);
  };
  const script = (...steps: readonly ScriptStep[]): void => server.begin(steps);
  describePauses(under, wire, () => new Stage(server, isStreamed));
  describeNesting(under, wire, () => new Stage(server, isStreamed));

  it('sends the same bytes without operators as without the bridge', async () => {
    const sent = await Promise.all(
      [undefined, []].map(async (operators) => {
        const own = new ModelServer();
        await own.start();
        const stage = new Stage(own, isStreamed);
        // Without operators: not even the one of the suite.
        const start = (setup: HostSetup) => under.start({ ...setup, operators });
        await stage.start({ ...under, start }, { operators, options: {}, wire });
        own.begin([calls('read', 'list'), calls('fail'), calls('write'), text('Done.'), text('Sure.')]);
        expect((await stage.run('Look.')).text).toBe('Done.');
        expect((await stage.run('Sure?')).text).toBe('Sure.');
        await stage.close();
        await own.stop();
        return stage.bodies;
      }),
    );
    const [without = [], through = []] = sent;
    expect(without).toHaveLength(5);
    expect(through).toHaveLength(5);
    expect(through.findIndex((body, index) => body !== without[index])).toBe(-1);
  });

  it('warns of exactly the events that it does not carry with { partial: true }', async () => {
    const types = Object.keys(under.events) as (keyof HostEvents)[];
    const lacking = types.filter((type) => under.events[type]?.support === 'none');
    const handled = intercept('handled', () => ({
      observe: Object.fromEntries(types.map((type) => [type, () => undefined])),
    }));
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const stage = new Stage(server, isStreamed);
    try {
      await stage.start(under, { operators: [handled], options: { partial: true }, wire });
      const warnings = warned.mock.calls.flatMap(([message]) =>
        String(message).includes('"handled"') ? [String(message)] : [],
      );
      expect(warnings).toEqual(lacking.length === 0 ? [] : [expect.stringContaining(`${lacking.join(', ')}, but`)]);
      script(text('Hello.'));
      expect((await stage.run('Hi')).text).toBe('Hello.');
      expect(stage.spy.count('model.response')).toBe(1);
    } finally {
      warned.mockRestore();
      await stage.close();
    }
  });

  scene(
    'shows one turn to operators',
    () => [],
    async (stage) => {
      script(calls('read', 'fail'), text('Done.'));
      await stage.run('Look.');
      expect(stage.spy.count('turn.start')).toBe(1);
      expect(stage.spy.count('model.response')).toBe(2);
      const statuses = stage.spy.events.flatMap((event) => (event.type === 'tool.result' ? [event.status] : []));
      expect(statuses.toSorted()).toEqual(['failed', 'ok']);
    },
  );

  scene(
    'does not run a denied call, and tells the model the reason',
    () => [denying('write', 'It is a holiday.')],
    async (stage) => {
      script(calls('read', 'write'), text('Sorry.'));
      expect((await stage.run('Write.')).text).toBe('Sorry.');
      expect(stage.ran).toEqual(['read a.txt']);
      expect(stage.bodies[1]).toContain('It is a holiday.');
    },
  );

  scene(
    'runs a call with the input that left the operators',
    () => [rewriting({ path: 'safe.txt' })],
    async (stage) => {
      script(calls('read'), text('Done.'));
      await stage.run('Read.');
      expect(stage.ran).toEqual(['read safe.txt']);
      expect(stage.bodies[1]).toContain('text of safe.txt');
    },
  );

  scene(
    'passes the result that left the operators to the model, also in later runs',
    () => [redacting('a.txt', '[redacted]'), redacting('disk', '[device]')],
    async (stage) => {
      script(calls('read', 'fail'), text('Done.'), text('Sure.'));
      await stage.run('Read.');
      await stage.run('Sure?');
      for (const body of stage.bodies.slice(1)) {
        expect(body).toContain('text of [redacted]');
        expect(body).toContain('The [device] is full.');
        expect(body).not.toContain('text of a.txt');
      }
      expect(stage.bodies).toHaveLength(3);
    },
  );

  scene(
    'runs every call of a model that uses an id again',
    () => [],
    async (stage) => {
      const reads = (path: string): Answer => ({ calls: [{ name: 'read', input: { path }, id: 'call_0' }] });
      script(reads('a.txt'), reads('b.txt'), text('Done.'), reads('c.txt'), text('Sure.'));
      expect((await stage.run('Read.')).text).toBe('Done.');
      expect((await stage.run('Again.')).text).toBe('Sure.');
      expect(stage.ran).toEqual(['read a.txt', 'read b.txt', 'read c.txt']);
      for (const path of ['a.txt', 'b.txt', 'c.txt']) expect(stage.bodies[4]).toContain(`text of ${path}`);
    },
  );

  scene(
    'shows operators the whole error of a tool, as the model reads it',
    () => [redacting(secret, '[key]')],
    async (stage) => {
      script({ calls: [{ name: 'fail', input: { path: 'secret' } }] }, text('Done.'));
      await stage.run('Read.');
      expect(stage.bodies[1]).toContain('The key is [key].');
      expect(stage.bodies[1]).not.toContain(secret);
    },
  );

  scene(
    'makes a failed model call again if an operator retries it',
    () => [retrying()],
    async (stage) => {
      script({ status: 429, message: 'Slow down.' }, text('Here.'));
      expect((await stage.run('Hi')).text).toBe('Here.');
      expect(stage.bodies).toHaveLength(2);
      expect(stage.bodies[1]).toBe(stage.bodies[0]);
    },
  );

  scene(
    'fails with the error of the model if no operator handles it',
    () => [],
    async (stage) => {
      script({ status: 400, message: 'A strange request.' });
      await expect(stage.run('Hi')).rejects.toThrow();
      expect(stage.bodies).toHaveLength(1);
      expect(stage.spy.outcomes).toEqual(['error']);
    },
  );

  scene(
    'keeps a compacted history per session, so that each request begins with the one before',
    () => [compacting(4, 'The summary.')],
    async (stage) => {
      script(calls('read'), calls('list'), calls('read'), text('Done.'), text('Sure.'), text('Other.'));
      await stage.run('Look around.');
      await stage.run('Sure?');
      await stage.run('Another topic.', { session: 'bob' });
      const [first, , ...rest] = stage.bodies;
      const compacted = rest.slice(0, 3);
      expect(first).toContain('Look around.');
      for (const body of compacted) {
        expect(body).toContain('The summary.');
        expect(body).not.toContain('Look around.');
      }
      for (const [index, body] of compacted.slice(1).entries()) {
        expect(isPrefix(messagesIn(compacted[index] as string), messagesIn(body))).toBe(true);
      }
      expect(rest.at(-1)).not.toContain('The summary.');
    },
  );

  scene(
    'ends the loop when an operator stops the turn, and reports the reason',
    () => [stoppingAt(3, 'It goes in circles.')],
    async (stage) => {
      script(calls('read'), calls('read'), calls('read'), calls('read'));
      const { stop } = await stage.run('Read.');
      expect(stop).toMatchObject({ outcome: 'loop-detected', reason: 'It goes in circles.' });
      expect(stage.bodies).toHaveLength(2);
      expect(stage.ran).toHaveLength(2);
      expect(stage.spy.outcomes).toEqual(['loop-detected']);
    },
  );

  scene(
    'fails with the error of an operator that failed, and names the operator',
    () => [failingAt(2)],
    async (stage) => {
      script(calls('read'), text('Again.'));
      await expect(stage.run('Read.')).rejects.toThrow(/^The operator "suite" .*Out of order\.$/);
      expect(stage.spy.outcomes).toEqual(['error']);
      expect(stage.bodies).toHaveLength(1);
    },
  );

  scene(
    'continues the session after a stop',
    () => [stoppingAt(2, 'Enough.')],
    async (stage) => {
      script(calls('read'), text('Again.'));
      await stage.run('Read.');
      expect((await stage.run('And now?')).text).toBe('Again.');
      expect(stage.bodies[1]).toContain('text of a.txt');
    },
  );

  for (const decision of ['once', 'deny'] as const) {
    const asked: string[] = [];
    scene(
      decision === 'once' ? 'runs a call that a person approves' : 'does not run a call that a person denies',
      () => [asking('Sure?')],
      async (stage) => {
        asked.length = 0;
        script(calls('write'), text('Done.'));
        expect((await stage.run('Write.')).text).toBe('Done.');
        expect(asked).toEqual(['write Sure?']);
        expect(stage.ran).toEqual(decision === 'once' ? ['write a.txt'] : []);
        expect(stage.bodies[1]).toContain(decision === 'once' ? 'written' : 'A person denied it.');
      },
      {
        approve: ({ reason, call }) => {
          asked.push(`${call?.name} ${reason}`);
          return { decision };
        },
      },
    );
  }

  scene(
    'isolates two sessions that run at once',
    () => [],
    async (stage) => {
      const answer = ({ body }: { readonly body: string }): Answer => {
        const steps = body.split('text of').length - 1;
        return steps < (body.includes('the long way') ? 3 : 1) ? calls('read') : text('Done.');
      };
      script(...Array.from({ length: 6 }, () => answer));
      await Promise.all([
        stage.run('Go the long way.', { session: 'long' }),
        stage.run('Go straight.', { session: 'short' }),
      ]);
      expect(stage.spy.count('model.response', 'long')).toBe(4);
      expect(stage.spy.count('model.response', 'short')).toBe(2);
      for (const body of stage.bodies) expect(body).not.toMatch(/long way.*straight|straight.*long way/s);
    },
  );

  sceneOfTools(
    'runs read-only calls together and every other call alone',
    () => [],
    async (stage) => {
      script({ calls: ['list', 'list', 'write'].map((name) => ({ name, input: waitInput })) }, text('Done.'));
      await stage.run('Go.');
      const lines = ['list begins', 'list begins', 'list ends', 'list ends', 'write begins', 'write ends'];
      expect(stage.log).toEqual(lines);
    },
    { effects: { list: 'read-only' } },
  );

  scene(
    'cancels the model call and the turn when the host is cancelled in an answer',
    () => [],
    async (stage) => {
      const controller = new AbortController();
      script({ hang: 'word '.repeat(50) });
      const onText = isStreamed ? (part: string) => void (part && controller.abort(new Error('Left.'))) : undefined;
      const run = stage.run('Talk.', { signal: controller.signal, ...(onText && { onText }) }).catch(() => undefined);
      await server.until(() => server.requests.length === 1);
      if (!isStreamed) controller.abort(new Error('Left.'));
      await Promise.all([run, stage.spy.ended()]);
      if (!under.keepsRequests?.includes(wire)) await server.until(() => server.disconnected === 1);
      expect(stage.spy.outcomes).toEqual(['cancelled']);
      expect(server.requests).toHaveLength(1);
    },
  );

  sceneOfTools(
    'cancels the tool and the turn when the host is cancelled in a tool',
    () => [],
    async (stage) => {
      const controller = new AbortController();
      stage.onWait = () => controller.abort(new Error('Left.'));
      script(calls('wait'), text('Never.'));
      await Promise.all([stage.run('Wait.', { signal: controller.signal }).catch(() => undefined), stage.spy.ended()]);
      expect(stage.toolSignal?.aborted).toBe(true);
      expect(stage.spy.outcomes).toEqual(['cancelled']);
      expect(stage.log).toEqual(['wait begins', 'wait ends']);
      expect(server.requests).toHaveLength(1);
    },
  );

  for (const [name, create] of [
    ...Object.entries(defaultOperators).map(([one, make]) => [one, () => [make()]] as const),
    ['all ten packages', () => Object.values(defaultOperators).map((make) => make())] as const,
  ]) {
    scene(`carries ${name} with default options`, create, async (stage) => {
      script(calls('read', 'list'), calls('fail', 'write'), text('Done.'), calls('read'), text('Sure.'));
      expect(await stage.run('Look.')).toMatchObject({ text: 'Done.' });
      expect(await stage.run('Sure?')).toMatchObject({ text: 'Sure.' });
      expect(stage.ran.toSorted()).toEqual(['fail a.txt', 'list a.txt', 'read a.txt', 'read a.txt', 'write a.txt']);
      expect(stage.bodies).toHaveLength(5);
      for (const [index, body] of stage.bodies.slice(1).entries()) {
        expect(texts(body)).toEqual(expect.arrayContaining([...texts(stage.bodies[index] as string)]));
      }
    });
  }

  for (const { title, create, answers, missing } of scenesOf(keys)) {
    scene(
      title,
      () => [create()],
      async (stage) => {
        script(...answers);
        await stage.run('Go.');
        expect(missing(stage.effects)).toBeUndefined();
      },
    );
  }
};

const isDefined = <Value>(value: Value | undefined): value is Value => value !== undefined;

/** Returns the error with which a bridge must reject an operator; `undefined` if the host carries all of its events. */
const unsupportedBy = (under: HostUnderTest, operator: PipelineOperator): object | undefined => {
  const handled = handledEvents(operator);
  const events =
    handled &&
    [...new Set([...handled.decides, ...handled.observes])].filter((type) => under.events[type]?.support === 'none');
  return events?.length ? { code: 'unsupported-operator', operator: handled?.operator, events } : undefined;
};
