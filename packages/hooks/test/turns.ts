import {
  harness,
  memorySessions,
  type Agent,
  type HarnessOptions,
  type PipelineOperator,
  type TurnEvent,
  type TurnEventOf,
  type TurnEventType,
} from '@h/turn';
import { scriptedModel, scriptedTools, type ScriptedModel, type ScriptedTools, type ScriptStep } from '@h/turn/testing';
import { lastValueFrom, tap, toArray } from 'rxjs';

/** A turn that has ended, with its model, tools and agent. */
export interface Ran {
  readonly events: readonly TurnEvent[];
  readonly model: ScriptedModel;
  readonly tools: ScriptedTools;
  readonly agent: Agent;
  of<Type extends TurnEventType>(type: Type): readonly TurnEventOf<Type>[];
  readonly end: TurnEventOf<'turn.end'>;
  /** The messages of the history as text: role and content. */
  readonly transcript: readonly string[];
}

export interface World {
  readonly script?: readonly ScriptStep[];
  readonly tools?: ScriptedTools;
  readonly delayMs?: number;
  readonly input?: string;
  readonly harness?: Partial<HarnessOptions>;
  /** Receives each event of the turn, and the agent. */
  readonly on?: (event: TurnEvent, agent: Agent) => void;
}

/** Runs one turn with these operators. */
export const runTurn = async (operators: readonly PipelineOperator[], world: World = {}): Promise<Ran> => {
  const { script = ['Done.'], tools = scriptedTools({ bash: 'ran' }), input = 'Continue.', on } = world;
  const model = scriptedModel(script, world.delayMs === undefined ? {} : { delayMs: world.delayMs });
  const sessions = memorySessions();
  const agent = harness({ model, tools, sessions, ...world.harness }).pipe(...operators);
  const events = await lastValueFrom(
    agent.turn({ session: 's', input, id: 'turn-1' }).pipe(
      tap((event) => on?.(event, agent)),
      toArray(),
    ),
  );
  return {
    events,
    model,
    tools,
    agent,
    of: (type) => events.filter((event) => event.type === type) as never,
    end: events.at(-1) as TurnEventOf<'turn.end'>,
    transcript: sessions
      .messages('s')
      .map(
        ({ role, content }) => `${role}: ${typeof content === 'string' ? content : content.map(partText).join(' | ')}`,
      ),
  };
};

const partText = (part: object): string => {
  const { type, text, toolName, output } = part as {
    type: string;
    text?: string;
    toolName?: string;
    output?: { type: string; value?: unknown; reason?: string };
  };
  if (type === 'text') return text ?? '';
  if (type === 'tool-call') return `call ${toolName}`;
  return `${output?.type} ${typeof output?.value === 'string' ? output.value : (output?.reason ?? JSON.stringify(output?.value))}`;
};
