import { Observable, type Observer } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { expectEnded, watch } from '../../test/turns.js';
import { stop } from '../contract/decisions.js';
import type { TurnEvent } from '../contract/events.js';
import { harness } from '../harness.js';
import { intercept } from './intercept.js';
import { reply } from '../reply.js';
import type { ModelDriver } from '../contract/model.js';
import { memorySessions } from '../journal/memory-sessions.js';
import type { PipelineOperator } from './pipeline.js';
import type { ToolDriver } from '../contract/tool.js';
import { call, response, scriptedModel } from '../testing/index.js';

const torn = <Value>(begin: (observer: Observer<Value>) => void = () => undefined): Observable<Value> =>
  new Observable((observer) => {
    begin(observer);
    return () => {
      throw new Error('The teardown failed.');
    };
  });

const hostile: ModelDriver = () => torn();
const hostileTools: ToolDriver = { definitions: () => [], run: () => torn() };
const native: PipelineOperator = (source) => torn<TurnEvent>((observer) => void source.subscribe(observer));

it('tears a driver down that is stopped while it is subscribed to', async () => {
  const teardown = vi.fn<() => void>();
  const model: ModelDriver = () =>
    new Observable((observer) => {
      observer.next({ type: 'delta', delta: { type: 'text', text: 'Hi' } });
      return teardown;
    });
  const watched = watch(
    harness({ model })
      .pipe(intercept('stopping', () => ({ decide: { 'model.delta': () => stop('replied', 'Enough.') } })))
      .turn({ session: 'alice', input: 'Go.' }),
  );
  await vi.waitFor(() => expect(watched.events.at(-1)?.type).toBe('turn.end'));
  expect(teardown).toHaveBeenCalledTimes(1);
});

describe('a teardown that throws', () => {
  it.each<[string, Parameters<typeof harness>[0], readonly PipelineOperator[]]>([
    ['of the model driver', { model: hostile }, []],
    [
      'of the tool driver',
      { model: scriptedModel([response(call('1', 'ls')), response(call('1', 'ls'))]), tools: hostileTools },
      [],
    ],
    ['of a native operator', { model: scriptedModel([{ never: [] }, { never: [] }]) }, [native]],
  ])('%s delays neither the end nor the release of the session', async (_, options, operators) => {
    for (const way of ['abort', 'leave'] as const) {
      const sessions = memorySessions();
      const controller = new AbortController();
      const watched = watch(
        harness({ ...options, sessions })
          .pipe(...operators)
          .turn({ session: 'alice', input: 'Go.', signal: controller.signal }),
      );
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (way === 'abort') controller.abort();
      else watched.subscription.unsubscribe();
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (way === 'abort') expectEnded('', watched);
      expect(
        (
          await reply(
            harness({ model: scriptedModel(['Hello.']), sessions })
              .pipe()
              .turn({ session: 'alice', input: 'And now?' }),
          )
        ).outcome,
      ).toBe('completed');
    }
  });

  it('of an answer that an operator waited for ends the turn with the name of the operator', async () => {
    const held = intercept('held', () => ({
      decide: {
        'model.request': () =>
          torn<undefined>((observer) => {
            setTimeout(() => {
              observer.next(undefined);
              observer.complete();
            }, 1);
          }),
      },
    }));
    const sessions = memorySessions();
    const { outcome, error } = await reply(
      harness({ model: scriptedModel(['Hello.']), sessions })
        .pipe(held)
        .turn({ session: 'alice', input: 'Go.' }),
    );
    expect([outcome, error?.operator]).toEqual(['error', 'held']);
    expect(
      (
        await reply(
          harness({ model: scriptedModel(['Hello.']), sessions })
            .pipe()
            .turn({ session: 'alice', input: 'And now?' }),
        )
      ).outcome,
    ).toBe('completed');
  });

  it('of a driver that has answered does not affect the turn', async () => {
    const model: ModelDriver = () =>
      torn((observer) => {
        observer.next({ type: 'response', response: response('Done.') });
        observer.complete();
      });
    expect(await reply(harness({ model }).pipe().turn({ session: 'alice', input: 'Go.' }))).toMatchObject({
      outcome: 'completed',
      text: 'Done.',
    });
  });
});
