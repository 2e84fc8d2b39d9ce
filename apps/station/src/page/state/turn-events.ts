import type { StationEntry, StationTurnEvent } from '../../api/contract.js';
import { outputText, shownStatus } from '../../api/tool-part.js';
import type { AssistantMessage, ToolOutcome, TurnEvent, UserMessage } from '@h/turn';
import { count, duration, plural } from './format.js';

export type EntryPart = StationEntry['parts'][number];
export type ToolEntryPart = Extract<EntryPart, { type: 'tool' }>;

/** A line between entries: a compaction, a switch to another model, the end of a turn that was not completed. */
export interface Note {
  readonly kind: 'compaction' | 'failover' | 'loop' | 'budget' | 'policy' | 'queue' | 'end' | 'retry';
  readonly text: string;
  readonly at: number;
}

/** A message that the service has accepted and the turn has not received. */
export interface PendingMessage {
  readonly id: string;
  readonly text: string;
  readonly mode: string;
}

/** The part of a conversation that turn events change. */
export interface Draft {
  entries: (StationEntry | undefined)[];
  notes: Map<number, readonly Note[]>;
  turn: string | null;
  waiting: string | null;
  streaming: { readonly index: number; readonly step: number; readonly attempt: number } | null;
  /** The last entry of the loaded page, if it can be an answer that still streams. */
  joined: number | null;
  pending: readonly PendingMessage[];
  isStale: boolean;
}

/** As in `entryPart`: longer results are artifacts or in the transcript. */
const maxOutput = 20_000;
const maxNotes = 50;

/** Changes the conversation as the server will when it next lists the entries. */
export const applyTurnEvent = (draft: Draft, data: StationTurnEvent): void => {
  const event = data as unknown as TurnEvent;
  switch (event.type) {
    case 'turn.start':
      draft.turn = event.turn;
      draft.waiting = null;
      return;
    case 'history.append':
      draft.turn = event.turn;
      for (const message of event.messages) {
        if (message.metadata?.internal === true) continue;
        if (message.role === 'user') addUserEntry(draft, event, message);
        else if (message.role === 'assistant') addAnswer(draft, event, message);
      }
      return;
    case 'model.request':
      draft.turn = event.turn;
      draft.waiting = null;
      draft.joined = null;
      // A retry continues in the entry of the failed attempt.
      if (draft.streaming?.step !== event.step) draft.streaming = null;
      return;
    case 'model.delta': {
      const index = answerEntry(draft, event);
      changeParts(draft, index, (parts) => withDelta(parts, event.delta));
      return;
    }
    case 'model.response': {
      const index = answerEntry(draft, event);
      changeParts(draft, index, (parts) => partsOfResponse(event.content, parts));
      return;
    }
    case 'model.error':
      // What a failed call has streamed is not in the history, and a retry begins again.
      if (draft.streaming) changeParts(draft, draft.streaming.index, () => []);
      if (event.retrying) {
        note(draft, 'retry', `The model call failed and is retried: ${event.error.message}`, event.at);
      }
      return;
    case 'tool.call':
      changeTool(draft, event.call.id, (part) => ({
        ...part,
        input: event.call.input as ToolEntryPart['input'],
        status: event.denied ? 'denied' : 'running',
        output: event.denied ? event.denied.reason : part.output,
      }));
      return;
    case 'tool.progress':
      changeTool(draft, event.call.id, (part) => ({ ...part, output: progressText(part.output, event.progress) }));
      return;
    case 'tool.result':
      changeTool(draft, event.call.id, (part) => withOutcome(part, event));
      return;
    case 'approval.request':
      if (event.call) changeTool(draft, event.call.id, (part) => ({ ...part, status: 'waiting' }));
      return;
    case 'turn.end': {
      draft.entries = endOfTurn(draft.entries, event.turn);
      draft.turn = null;
      draft.waiting = null;
      draft.streaming = null;
      draft.joined = null;
      draft.isStale = true;
      const cause = event.reason ?? event.error?.message;
      if (event.outcome !== 'completed' && event.outcome !== 'replied') {
        note(draft, 'end', `${outcomeText(event.outcome)}${cause ? `: ${cause}` : ''}`, event.at);
      }
      return;
    }
    default:
      applyNotice(draft, data);
  }
};

/** How a turn ended, as a sentence begins. */
export const outcomeText = (outcome: string): string => outcomes[outcome] ?? `Ended as ${outcome}`;

const outcomes: Readonly<Record<string, string>> = {
  completed: 'Completed',
  replied: 'Answered without the model',
  cancelled: 'Cancelled',
  'timed-out': 'Stopped at the time limit',
  'max-steps': 'Stopped at the step limit',
  'budget-exceeded': 'Stopped at the budget',
  'loop-detected': 'Stopped in a loop',
  blocked: 'Blocked',
  error: 'Failed',
};

/** Notices of operators. Each package declares its own, so their members are read without their types. */
const applyNotice = (draft: Draft, event: StationTurnEvent): void => {
  const text = (name: string): string => (typeof event[name] === 'string' ? event[name] : '');
  const number = (name: string): number => (typeof event[name] === 'number' ? event[name] : 0);
  const model = (name: string): string => {
    const target = event[name] as { readonly model?: string; readonly credential?: string } | undefined;
    return target?.model ?? target?.credential ?? 'the default model';
  };
  const add = (kind: Note['kind'], words: string): void => note(draft, kind, words, event.at);
  switch (event.type) {
    case 'compaction.done':
      add('compaction', `Compacted from ${count(number('tokensBefore'))} to ${count(number('tokensAfter'))} tokens`);
      return;
    case 'compaction.failed':
      add('compaction', `Compaction failed: ${text('message')}`);
      return;
    case 'failover.switched':
      add('failover', `Switched from ${model('from')} to ${model('to')}: ${text('reason')}`);
      return;
    case 'failover.waiting':
      add('failover', `All models are in cooldown. ${model('to')} is asked in ${duration(number('delayMs'))}`);
      return;
    case 'failover.retrying':
      add('retry', `${model('from')} is asked again in ${duration(number('delayMs'))}: ${text('reason')}`);
      return;
    case 'loop.warning':
      add('loop', text('message') || 'The turn repeats itself');
      return;
    case 'budget.near':
      add('budget', `The limit ${text('limit')} is nearly used up: ${number('used')} of ${number('max')}`);
      return;
    case 'budget.exceeded':
      add('budget', `The limit ${text('limit')} is used up: ${number('max')}`);
      return;
    case 'budget.wrap-up':
      add('budget', 'Last step: the model sums up its work');
      return;
    case 'queue.waiting':
      draft.turn = event.turn;
      draft.waiting =
        text('for') === 'session'
          ? 'Waits for an earlier turn of this session'
          : `Waits for a slot, position ${number('position')}`;
      return;
    case 'queue.admitted':
      draft.waiting = null;
      return;
    case 'queue.dropped':
      add('queue', `${plural(number('count'), 'message')} dropped while the session was busy`);
      return;
    case 'hook.denied':
      add('policy', `Denied by ${text('hook')}: ${text('reason')}`);
      return;
    case 'hook.notice':
      add('policy', text('message'));
      return;
    case 'hook.failed':
      add('policy', `The hook ${text('hook')} failed`);
      return;
  }
};

const note = (draft: Draft, kind: Note['kind'], text: string, at: number): void => {
  const index = draft.entries.length - 1;
  const before = draft.notes.get(index) ?? [];
  const last = before.at(-1);
  if (last?.text === text && last.kind === kind) return;
  draft.notes.set(index, [...before, { kind, text, at }].slice(-maxNotes));
};

const addUserEntry = (draft: Draft, { turn, at }: { turn: string; at: number }, message: UserMessage): void => {
  const { content, metadata } = message;
  // The service stores files and lists them in the order in which the message contains them.
  const stored = Array.isArray(metadata?.['artifacts']) ? [...(metadata['artifacts'] as readonly unknown[])] : [];
  const parts =
    typeof content === 'string'
      ? [{ type: 'text' as const, text: content }]
      : content.map((part) => userPart(part, part.type === 'text' ? undefined : stored.shift()));
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const delivered = draft.pending.findIndex((sent) => sent.text === text);
  if (delivered >= 0) draft.pending = draft.pending.filter((_, index) => index !== delivered);
  draft.entries.push({ index: draft.entries.length, role: 'user', turn, at, parts });
  draft.streaming = null;
  draft.joined = null;
};

const userPart = (part: Exclude<UserMessage['content'], string>[number], artifact: unknown): EntryPart =>
  part.type === 'text'
    ? { type: 'text', text: part.text }
    : {
        type: 'file',
        mediaType: part.mediaType ?? 'application/octet-stream',
        name: part.type === 'file' ? (part.filename ?? null) : null,
        artifact: typeof artifact === 'string' ? artifact : null,
      };

/** The message of a model call replaces what has streamed; an answer that an operator adds is another entry. */
const addAnswer = (draft: Draft, { turn, at }: { turn: string; at: number }, { content }: AssistantMessage): void => {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const last = draft.entries.at(-1);
  const calls = new Set(parts.map((part) => (part.type === 'tool-call' ? part.toolCallId : undefined)));
  const isKnown = last?.turn === turn && last.parts.some((part) => part.type === 'tool' && calls.has(part.call));
  const index = isKnown ? last.index : (streamingIndex(draft, turn) ?? pushAnswer(draft, turn, at));
  changeParts(draft, index, (before) => partsOfResponse(parts, before));
  draft.streaming = null;
  draft.joined = null;
};

/** The entry that streams, or the one that streamed when its page was loaded. */
const streamingIndex = ({ streaming, joined, entries }: Draft, turn: string): number | undefined => {
  const index = streaming?.index ?? joined;
  return index !== null && entries[index]?.turn === turn ? index : undefined;
};

const pushAnswer = (draft: Draft, turn: string, at: number): number =>
  draft.entries.push({ index: draft.entries.length, role: 'assistant', turn, at, parts: [] }) - 1;

interface ModelCall {
  readonly turn: string;
  readonly at: number;
  readonly step: number;
  readonly attempt: number;
}

/** The entry of a model call: the one that streams, or a new one. A retry begins with an empty one. */
const answerEntry = (draft: Draft, { turn, at, step, attempt }: ModelCall): number => {
  draft.turn = turn;
  draft.waiting = null;
  const { streaming } = draft;
  const isOther = streaming !== null && streaming.step !== step;
  const index = (isOther ? undefined : streamingIndex(draft, turn)) ?? pushAnswer(draft, turn, at);
  if (streaming?.index === index && streaming.attempt !== attempt) changeParts(draft, index, () => []);
  draft.streaming = { index, step, attempt };
  draft.joined = null;
  return index;
};

const changeParts = (draft: Draft, index: number, change: (parts: readonly EntryPart[]) => EntryPart[]): void => {
  const entry = draft.entries[index];
  if (entry) draft.entries[index] = { ...entry, parts: change(entry.parts) };
};

/** Changes the latest call with this id; ids are unique within a turn only. */
const changeTool = (draft: Draft, call: string, change: (part: ToolEntryPart) => ToolEntryPart): void => {
  for (let index = draft.entries.length - 1; index >= 0; index -= 1) {
    const entry = draft.entries[index];
    if (entry === undefined) return;
    if (entry.parts.some((part) => part.type === 'tool' && part.call === call)) {
      changeParts(draft, index, (parts) =>
        parts.map((part) => (part.type === 'tool' && part.call === call ? change(part) : part)),
      );
      return;
    }
  }
};

type Delta = Extract<TurnEvent, { type: 'model.delta' }>['delta'];
type Content = Extract<TurnEvent, { type: 'model.response' }>['content'];

const withDelta = (parts: readonly EntryPart[], delta: Delta): EntryPart[] => {
  const last = parts.at(-1);
  if (delta.type === 'tool-input') {
    if (parts.some((part) => part.type === 'tool' && part.call === delta.toolCallId)) {
      return parts.map((part) =>
        part.type === 'tool' && part.call === delta.toolCallId && typeof part.input === 'string'
          ? { ...part, input: part.input + delta.text }
          : part,
      );
    }
    return [...parts, { ...emptyTool, call: delta.toolCallId, name: delta.toolName, input: delta.text }];
  }
  return last?.type === delta.type
    ? [...parts.slice(0, -1), { type: delta.type, text: last.text + delta.text }]
    : [...parts, { type: delta.type, text: delta.text }];
};

const emptyTool = {
  type: 'tool',
  status: 'running',
  output: null,
  isTruncated: false,
  durationMs: null,
  artifact: null,
} as const;

const partsOfResponse = (content: Content, before: readonly EntryPart[]): EntryPart[] =>
  content.flatMap((part): EntryPart[] => {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return part.text === '' ? [] : [{ type: part.type, text: part.text }];
      case 'file':
      case 'reasoning-file':
        return [{ type: 'file', mediaType: part.mediaType, name: null, artifact: null }];
      case 'tool-call': {
        const known = before.find((other) => other.type === 'tool' && other.call === part.toolCallId);
        const tool = known?.type === 'tool' ? known : { ...emptyTool, call: part.toolCallId };
        return [{ ...tool, name: part.toolName, input: (part.input ?? null) as ToolEntryPart['input'] }];
      }
      default:
        return [];
    }
  });

const withOutcome = (part: ToolEntryPart, outcome: ToolOutcome): ToolEntryPart => {
  const output = outputText(outcome.output);
  return {
    ...part,
    status: shownStatus(outcome.status),
    output: output.slice(0, maxOutput),
    isTruncated: output.length > maxOutput,
    durationMs: outcome.durationMs ?? null,
    artifact: outcome.status === 'stored' ? outcome.artifact.id : part.artifact,
  };
};

const progressText = (before: string | null, progress: unknown): string => {
  const text = typeof progress === 'string' ? progress : JSON.stringify(progress);
  return `${before ?? ''}${text}`.slice(-maxOutput);
};

/** Calls of a turn that has ended do not run any more. */
const endOfTurn = (entries: readonly (StationEntry | undefined)[], turn: string): (StationEntry | undefined)[] =>
  entries.map((entry) =>
    entry?.turn === turn && entry.parts.some(isUnfinished)
      ? { ...entry, parts: entry.parts.map((part) => (isUnfinished(part) ? { ...part, status: 'interrupted' } : part)) }
      : entry,
  );

const isUnfinished = (part: EntryPart): part is ToolEntryPart =>
  part.type === 'tool' && (part.status === 'running' || part.status === 'waiting');
