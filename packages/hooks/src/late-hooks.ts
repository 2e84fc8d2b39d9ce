import {
  intercept,
  type DecideHandlers,
  type JSONObject,
  type ObserveHandlers,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';
import { checkSources } from './check-hook.js';
import './events.js';
import type { HookSource, OnCompactionContext } from './hook.js';
import { merged } from './hooks.js';
import { chain } from './maybe.js';
import { lateSettingsOf, type LateHooksOptions } from './options.js';
import { TurnHooks } from './turn-hooks.js';

const phases: readonly OnCompactionContext['phase'][] = ['started', 'done', 'failed'];

/**
 * Calls the observers of what operators behind `hooks()` say: `onCompaction`. Give it the same list.
 *
 * Belongs behind `compaction()`. It changes nothing, and the end of the turn waits for what it has under way.
 *
 * @throws InvalidOptionError `invalid-option` for a hook or an option that does not exist, or a value that it does not take
 *
 * @example
 * ```ts
 * harness({ model }).pipe(hooks(rules), compaction({ summarize }), lateHooks(rules));
 * ```
 */
export const lateHooks = (sources: readonly HookSource[], options: LateHooksOptions = {}): TurnOperator => {
  checkSources('lateHooks()', sources);
  const settings = lateSettingsOf(options);
  return intercept('late-hooks', (operator) => {
    const turn = new TurnHooks(operator, sources, settings);
    const onCompaction = (phase: OnCompactionContext['phase']) => (event: TurnEvent) => {
      const { type: _type, turn: _turn, at, replayed, annotations: _annotations, ...details } = event;
      if (replayed !== true) turn.watch('onCompaction', at, { phase, details: details as unknown as JSONObject });
    };
    // The notices of a package that this one does not know by type.
    const notices = Object.fromEntries(
      phases.map((phase) => [`compaction.${phase}`, onCompaction(phase)]),
    ) as ObserveHandlers;
    const decide: DecideHandlers = {
      'turn.end': (event) => turn.deciding(event, () => chain(turn.settled(), () => undefined)),
    };
    return { observe: merged(turn.observe, notices), decide, finalize: () => turn.close() };
  });
};
