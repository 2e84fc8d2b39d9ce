import { EventType } from '@ag-ui/core';
import type { JSONValue } from '@h/turn';
import * as z from 'zod';
import { endOfTurns, readSession } from '../service/session-events.js';
import { newSessionId, sha256, StationError } from '../service/session-id.js';
import type { Station } from '../service/station.js';
import { callerStream } from './caller-stream.js';
import type { ServerSentEvent } from './event-stream.js';
import type { Metrics } from './metrics.js';
import type { Caller } from './route.js';

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))]);

/** The input of a run of AG-UI. The history of the client is not used: that of the session is. */
export const agUiInput = z.looseObject({
  threadId: z.string().min(1).max(200),
  runId: z.string().min(1).max(200),
  messages: z.array(z.looseObject({ id: z.string(), role: z.string(), content: content.optional() })).max(10_000),
});

/** An event of AG-UI 1.0. */
type AgUiEvent = Readonly<Record<string, unknown>> & { readonly type: EventType };

/** Options of {@link runAgUi}. */
export interface AgUiRun {
  readonly station: Station;
  readonly metrics: Metrics;
  readonly caller: Caller;
  readonly agent: string;
  readonly input: z.output<typeof agUiInput>;
}

/**
 * Sends the latest message of the user to the session of a thread, and streams the turn as events of AG-UI 1.0. The
 * turn continues if the client leaves.
 *
 * @throws StationError
 */
export const runAgUi = async ({ station, metrics, caller, agent, input }: AgUiRun): Promise<Response> => {
  const { tenant } = caller;
  const { threadId, runId, messages } = input;
  const message = messages.findLast(({ role }) => role === 'user');
  const text = typeof message?.content === 'string' ? message.content : textOf(message?.content);
  if (message === undefined || text === '') {
    throw new StationError(422, 'no-message', 'The run has no message of the user. Add one to "messages".', 'messages');
  }
  const seed = `ag-ui:${agent}:${threadId}`;
  const { id } = await station.sessions.create(tenant, { agent }, seed);
  const session = await station.sessions.get(tenant, newSessionId(agent, tenant, seed));
  const position = await station.reader.position(session);
  const { isNew } = await station.send(tenant, id, { text, mode: 'steer', files: [] }, sha256(`ag-ui:${message.id}`));
  // A client that repeats its request after a lost connection receives the latest turn from its beginning.
  const after = isNew ? position : endOfTurns(Math.max(0, session.turns - 1));
  const events = async function* (signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
    const translate = createTranslator(threadId, runId);
    yield { data: { type: EventType.RUN_STARTED, threadId, runId } };
    for await (const item of readSession(station.backend, id, { after, signal, keepMs: station.keepEventsMs })) {
      if (item.type !== 'event') continue;
      for (const data of translate(item.event)) yield { data };
      if ((item.event as unknown as TurnEventData).type === 'turn.end') return;
    }
  };
  return callerStream(events, { station, metrics, caller });
};

const textOf = (parts: readonly { readonly text?: string | undefined }[] = []): string =>
  parts
    .map((part) => part.text ?? '')
    .join('\n')
    .trim();

/** The members of turn events that are translated. */
interface TurnEventData {
  readonly type: string;
  readonly turn: string;
  readonly step?: number;
  readonly attempt?: number;
  readonly id?: string;
  readonly reason?: string;
  readonly expiresAt?: number;
  readonly outcome?: string;
  readonly error?: { readonly code?: string; readonly message: string };
  readonly delta?: { readonly type: 'text' | 'reasoning'; readonly text: string };
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly call?: { readonly id: string; readonly name: string; readonly input: unknown };
  readonly output?: { readonly value?: unknown; readonly reason?: string };
}

/** Translates the events of a turn. What has begun is ended before something else begins. */
const createTranslator = (threadId: string, runId: string): ((event: JSONValue) => readonly AgUiEvent[]) => {
  let open: { readonly type: 'text' | 'reasoning'; readonly messageId: string } | undefined;
  let hasText = false;
  let step: string | undefined;
  let messages = 0;
  const end = (): AgUiEvent[] => {
    const ended = open;
    open = undefined;
    if (!ended) return [];
    const { messageId } = ended;
    if (ended.type === 'text') return [{ type: EventType.TEXT_MESSAGE_END, messageId }];
    return [
      { type: EventType.REASONING_MESSAGE_END, messageId },
      { type: EventType.REASONING_END, messageId },
    ];
  };
  const add = (turn: string, type: 'text' | 'reasoning', delta: string): AgUiEvent[] => {
    const before = open?.type === type ? [] : end();
    const begin: AgUiEvent[] = [];
    if (!open) {
      const messageId = `${turn}-${(messages += 1)}`;
      open = { type, messageId };
      if (type === 'text') begin.push({ type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant' });
      else {
        begin.push({ type: EventType.REASONING_START, messageId });
        begin.push({ type: EventType.REASONING_MESSAGE_START, messageId, role: 'reasoning' });
      }
    }
    const kind = type === 'text' ? EventType.TEXT_MESSAGE_CONTENT : EventType.REASONING_MESSAGE_CONTENT;
    if (type === 'text') hasText = true;
    return [...before, ...begin, { type: kind, messageId: open.messageId, delta }];
  };
  const endStep = (): AgUiEvent[] => {
    const stepName = step;
    step = undefined;
    return stepName === undefined ? [] : [{ type: EventType.STEP_FINISHED, stepName }];
  };
  return (given) => {
    const event = given as unknown as TurnEventData;
    switch (event.type) {
      case 'model.request': {
        const before = [...end(), ...endStep()];
        step = `step ${event.step ?? 0}`;
        hasText = false;
        return [...before, { type: EventType.STEP_STARTED, stepName: step }];
      }
      case 'model.delta':
        return event.delta ? add(event.turn, event.delta.type, event.delta.text) : [];
      case 'model.response': {
        // An answer that was not streamed.
        const text = hasText
          ? ''
          : (event.content ?? []).map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
        return [...(text === '' ? [] : add(event.turn, 'text', text)), ...end()];
      }
      case 'model.error':
        return end();
      case 'tool.call': {
        const { id: toolCallId = '', name: toolCallName = '', input } = event.call ?? {};
        return [
          ...end(),
          { type: EventType.TOOL_CALL_START, toolCallId, toolCallName },
          { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: JSON.stringify(input ?? {}) },
          { type: EventType.TOOL_CALL_END, toolCallId },
        ];
      }
      case 'tool.result': {
        const toolCallId = event.call?.id ?? '';
        const { value = event.output?.reason ?? '' } = event.output ?? {};
        const result = typeof value === 'string' ? value : JSON.stringify(value);
        return [
          {
            type: EventType.TOOL_CALL_RESULT,
            messageId: `result-${toolCallId}`,
            toolCallId,
            content: result,
            role: 'tool',
          },
        ];
      }
      case 'approval.request': {
        const { id, reason, call, expiresAt } = event;
        return [{ type: EventType.CUSTOM, name: 'approval', value: { id, reason, call, expiresAt } }];
      }
      case 'turn.end': {
        const before = [...end(), ...endStep()];
        if (event.outcome !== 'error') {
          return [...before, { type: EventType.RUN_FINISHED, threadId, runId, result: { outcome: event.outcome } }];
        }
        const { message = 'The turn has failed.', code } = event.error ?? {};
        return [...before, { type: EventType.RUN_ERROR, message, ...(code !== undefined && { code }) }];
      }
      default:
        return [];
    }
  };
};
