import type { Message, Usage } from '@h/turn';
import type { AuditRecord } from '../read/record.js';

/** A recorded tool call with its result. */
export interface RecordedCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** `undefined` if the recording has none. */
  result: string | undefined;
  isError: boolean;
}

/** A recorded model call, and the tool calls of its answer. */
export interface RecordedStep {
  /** Index of the message of the user that the step works on. */
  readonly turn: number;
  at: number | undefined;
  model: string | undefined;
  usage: Usage | undefined;
  text: string;
  readonly calls: RecordedCall[];
}

/** A recorded session. */
export interface RecordedRun {
  readonly id: string;
  /** The messages of the user, one for each turn. */
  readonly inputs: readonly string[];
  readonly steps: readonly RecordedStep[];
  /** Whether the last answer has text and calls no tool. */
  readonly isSuccess: boolean;
}

type RequestRecord = Extract<AuditRecord, { type: 'request' }>;

/** Groups records into the steps of a run. */
export const runOf = (id: string, records: readonly AuditRecord[]): RecordedRun => {
  const inputs: string[] = [];
  const steps: RecordedStep[] = [];
  const requests: RequestRecord[] = [];
  const open = new Map<string, RecordedCall>();
  let current: RecordedStep | undefined;
  const step = (): RecordedStep => {
    if (current) return current;
    if (inputs.length === 0) inputs.push('');
    current = { turn: inputs.length - 1, at: undefined, model: undefined, usage: undefined, text: '', calls: [] };
    steps.push(current);
    return current;
  };
  for (const record of records) {
    if (record.type === 'request') requests.push(record);
    else if (record.type === 'call') {
      const call: RecordedCall = { ...callOf(record), result: undefined, isError: false };
      step().at ??= record.at;
      step().calls.push(call);
      open.set(record.id, call);
    } else if (record.type === 'result') {
      current = undefined;
      const call = open.get(record.id);
      if (call) Object.assign(call, { result: record.text, isError: record.isError });
    } else if (record.type === 'message' && record.role === 'user') {
      current = undefined;
      inputs.push(record.text);
    } else if (record.type === 'message') {
      step().text = step().text === '' ? record.text : `${step().text}\n${record.text}`;
    }
  }
  // Formats report usage before or after an answer: only one request for each step tells which belongs to which.
  if (requests.length === steps.length) {
    for (const [index, found] of steps.entries()) {
      const { at, model, usage } = requests[index] ?? {};
      Object.assign(found, { at: at ?? found.at, model, usage });
    }
  }
  const last = steps.at(-1);
  return { id, inputs, steps, isSuccess: last !== undefined && last.calls.length === 0 && last.text !== '' };
};

const callOf = ({ id, name, input }: Extract<AuditRecord, { type: 'call' }>) => ({ id, name, input });

/** Returns the messages of a step: the answer, and the results of its calls. */
export const messagesOfStep = ({ text, calls }: RecordedStep): readonly Message[] => [
  {
    role: 'assistant',
    content: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...calls.map(({ id, name, input }) => ({
        type: 'tool-call' as const,
        toolCallId: id,
        toolName: name,
        input,
      })),
    ],
  },
  ...(calls.length === 0
    ? []
    : [
        {
          role: 'tool' as const,
          content: calls.map(({ id, name, result = '' }) => ({
            type: 'tool-result' as const,
            toolCallId: id,
            toolName: name,
            output: { type: 'text' as const, value: result },
          })),
        },
      ]),
];
