import type { AssistantMessage, AssistantPart, Message, ToolResultPart } from '@h/turn';
import fc from 'fast-check';

/** A history, and which of its messages must not be separated: the places of a call and of its result. */
export interface PairedHistory {
  readonly messages: readonly Message[];
  readonly pairs: readonly (readonly [call: number, result: number])[];
}

interface Episode {
  readonly kind: 'user' | 'answer' | 'calls';
  readonly text: string;
  readonly count: number;
  readonly shape: 'together' | 'apart' | 'anthropic' | 'openai' | 'late' | 'split';
  readonly ids: 'unique' | 'reused' | 'missing';
  readonly unanswered: boolean;
}

const texts = fc.constantFrom(
  'ok',
  'Please go on.',
  'Weiter über die Straße',
  '请修复失败的测试',
  'Сводка 😀',
  'a very long line '.repeat(40),
);

const nativeShapes = ['together', 'apart', 'late', 'split'] as const;

const episodeOf = (shapes: readonly Episode['shape'][]): fc.Arbitrary<Episode> =>
  fc.record({
    kind: fc.constantFrom('user', 'answer', 'calls', 'calls', 'calls'),
    text: texts,
    count: fc.integer({ min: 1, max: 4 }),
    shape: fc.constantFrom(...shapes),
    ids: fc.constantFrom('unique', 'unique', 'reused', 'missing'),
    unanswered: fc.boolean(),
  });

/** Histories of the shapes that turns have, with what belongs together. */
export const nativeHistories = (maxEpisodes: number): fc.Arbitrary<PairedHistory> =>
  historiesOf(nativeShapes, maxEpisodes);

/** Histories of all shapes that frameworks produce, with what belongs together. */
export const pairedHistories = (maxEpisodes = 30): fc.Arbitrary<PairedHistory> =>
  historiesOf([...nativeShapes, 'anthropic', 'openai'], maxEpisodes);

const historiesOf = (shapes: readonly Episode['shape'][], maxEpisodes: number): fc.Arbitrary<PairedHistory> =>
  fc.array(episodeOf(shapes), { minLength: 1, maxLength: maxEpisodes }).map((episodes) => {
    const messages: Message[] = [];
    const pairs: [number, number][] = [];
    for (const [number, each] of episodes.entries()) addEpisode(each, number, messages, pairs);
    return { messages, pairs };
  });

const addEpisode = (episode: Episode, number: number, messages: Message[], pairs: [number, number][]): void => {
  const { kind, text, shape, ids } = episode;
  if (kind === 'user') {
    messages.push({ role: 'user', content: text });
    return;
  }
  if (kind === 'answer') {
    messages.push({ role: 'assistant', content: [{ type: 'text', text }] });
    return;
  }
  // Without ids, calls and results can be matched only within one message.
  const isSplit = shape === 'split' && ids === 'unique';
  const names = Array.from({ length: episode.count }, (_, index) =>
    ids === 'unique' ? `c${number}-${index}` : ids === 'reused' ? `${index}` : '',
  );
  const callsAt = names.map((id) => {
    if (isSplit || messages.at(-1)?.role !== 'assistant' || id === names[0]) {
      messages.push({ role: 'assistant', content: [] });
    }
    return messages.length - 1;
  });
  const [first = 0] = callsAt;
  if (!isSplit) messages.splice(first + 1);
  for (const [index, id] of names.entries()) {
    const message = messages[isSplit ? (callsAt[index] as number) : first] as AssistantMessage;
    (message.content as AssistantPart[]).push({
      type: 'tool-call',
      toolCallId: id,
      toolName: 'read',
      input: { path: text },
    });
  }
  const answered = episode.unanswered && ids !== 'missing' ? names.slice(1) : names;
  if (answered.length === 0) return;
  if (shape === 'late') messages.push({ role: 'user', content: 'Are you done?' });
  const resultsAt = pushResults(messages, answered, shape, text);
  const offset = names.length - answered.length;
  for (const [index] of answered.entries()) {
    pairs.push([isSplit ? (callsAt[index + offset] as number) : first, resultsAt[index] as number]);
  }
};

const pushResults = (
  messages: Message[],
  ids: readonly string[],
  shape: Episode['shape'],
  text: string,
): readonly number[] => {
  const result = (id: string): ToolResultPart => ({
    type: 'tool-result',
    toolCallId: id,
    toolName: 'read',
    output: { type: 'text', value: text },
  });
  if (shape === 'apart' || shape === 'split') {
    return ids.map((id) => messages.push({ role: 'tool', content: [result(id)] }) - 1);
  }
  if (shape === 'openai') {
    return ids.map((id) => messages.push({ role: 'tool', tool_call_id: id, content: text } as unknown as Message) - 1);
  }
  const message =
    shape === 'anthropic'
      ? { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: text })) }
      : { role: 'tool', content: ids.map(result) };
  messages.push(message as Message);
  return ids.map(() => messages.length - 1);
};

/** Whether a cut before this message separates nothing. */
export const isSafeCut = ({ pairs }: PairedHistory, place: number): boolean =>
  pairs.every(([call, result]) => place <= call || place > result);
