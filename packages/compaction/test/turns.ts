import {
  harness,
  memorySessions,
  type MemorySessions,
  type Message,
  type ModelDriver,
  type TurnEvent,
  type TurnEventOf,
  type TurnEventType,
  type TurnInput,
  type HarnessOptions,
} from '@h/turn';
import { scriptedModel, scriptedTools, type ScriptedModel, type ScriptStep } from '@h/turn/testing';
import { lastValueFrom, toArray } from 'rxjs';
import { compaction, type CompactionOptions } from '../src/index.js';

/** A turn that has ended. */
export interface EndedTurn {
  readonly events: readonly TurnEvent[];
  readonly model: ScriptedModel;
  readonly sessions: MemorySessions;
  readonly history: readonly Message[];
  /** The events of a type. */
  of<Type extends TurnEventType>(type: Type): readonly TurnEventOf<Type>[];
}

/** Options of {@link runTurn}. */
export interface RunTurnOptions extends Partial<Omit<HarnessOptions, 'model'>> {
  readonly history?: readonly Message[];
  readonly script?: readonly ScriptStep[];
  readonly model?: ScriptedModel;
  readonly sessions?: MemorySessions;
  readonly turn?: Partial<TurnInput>;
}

/** Runs one turn of alice's with compaction around it. */
export const runTurn = async (
  options: CompactionOptions,
  {
    history = [],
    script = ['Done.'],
    sessions = memorySessions({ alice: history }),
    model = scriptedModel(script),
    turn,
    ...rest
  }: RunTurnOptions = {},
): Promise<EndedTurn> => {
  const tools = scriptedTools({ ls: 'a.txt', big: 'line of a log\n'.repeat(4000) });
  const agent = harness({ model: model as ModelDriver, tools, ...rest, sessions }).pipe(compaction(options));
  const events = await lastValueFrom(
    agent.turn({ session: 'alice', input: 'Continue, please.', ...turn }).pipe(toArray()),
  );
  return {
    events,
    model,
    sessions,
    history: sessions.messages('alice'),
    of: <Type extends TurnEventType>(type: Type) =>
      events.filter((event): event is TurnEventOf<Type> => event.type === type),
  };
};
