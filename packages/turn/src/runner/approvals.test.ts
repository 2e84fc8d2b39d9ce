import { describe, expect, it } from 'vitest';
import { deny } from '../contract/decisions.js';
import type { TurnEvent } from '../contract/events.js';
import { harness } from '../harness.js';
import type { Decision } from '../operators/handlers.js';
import { intercept } from '../operators/intercept.js';
import { call, response, scriptedModel, scriptedTools } from '../testing/index.js';

/** Asks before every call. */
const asking = () =>
  intercept('asking', ({ emit }) => {
    const waiting = new Map<string, (decision: Decision) => void>();
    return {
      observe: { 'approval.answer': ({ id, decision }) => waiting.get(id)?.(decision === 'deny' ? null : undefined) },
      decide: {
        'tool.call': (event) => {
          const id = `approve-${event.call.id}`;
          emit({ type: 'approval.request', id, reason: 'May it run?', call: event.call });
          return new Promise<Decision>((resolve) => waiting.set(id, resolve)).then((decision) =>
            decision === null ? deny(event, 'The user said no.') : undefined,
          );
        },
      },
    };
  });

describe('an approval', () => {
  const agentWith = () => {
    const tools = scriptedTools({ publish: 'published' });
    const model = scriptedModel([response(call('1', 'publish'), call('2', 'publish')), 'Done.']);
    return { tools, agent: harness({ model, tools }).pipe(asking()) };
  };

  it.each(['at once', 'later'])('is answered %s, and no tool runs before the last answer', async (when) => {
    const { agent, tools } = agentWith();
    const answered: boolean[] = [];
    const events = await new Promise<readonly TurnEvent[]>((resolve) => {
      const seen: TurnEvent[] = [];
      agent.turn({ session: 's', input: 'Publish it' }).subscribe({
        next: (event) => {
          seen.push(event);
          if (event.type !== 'approval.request') return;
          expect(tools.ran).toEqual([]);
          const decide = (): void =>
            void answered.push(agent.answer(event.id, event.id === 'approve-1' ? 'deny' : 'once'));
          if (when === 'at once') decide();
          else setTimeout(decide, 1);
        },
        complete: () => resolve(seen),
      });
    });
    expect(answered).toEqual([true, true]);
    expect(tools.ran.map(({ id }) => id)).toEqual(['2']);
    expect(
      events.flatMap((event) => (event.type === 'tool.result' ? [`${event.call.id} ${event.status}`] : [])).toSorted(),
    ).toEqual(['1 denied', '2 ok']);
    expect(agent.answer('approve-1', 'once')).toBe(false);
  });
});
