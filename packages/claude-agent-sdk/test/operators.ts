import {
  intercept,
  type Handlers,
  type ToolResultOutput,
  type TurnEvent,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';

export const operator = (decide: NonNullable<Handlers['decide']>, name = 'test'): TurnOperator =>
  intercept(name, () => ({ decide }));

/** Records the events that left the operators. */
export const spy = (events: TurnEvent[]): TurnOperator =>
  intercept('spy', () => ({ observe: { '*': (event) => void events.push(event) } }));

/** Holds each call until a person has approved it. */
export const approval = (isGated: (event: TurnEventOf<'tool.call'>) => boolean): TurnOperator =>
  intercept('approval', ({ emit }) => {
    const waiting = new Map<string, (answer: TurnEventOf<'approval.answer'>) => void>();
    return {
      observe: { 'approval.answer': (event) => waiting.get(event.id)?.(event) },
      decide: {
        'tool.call': (event) => {
          if (event.denied || !isGated(event)) return undefined;
          const { call } = event;
          return new Promise((resolve) => {
            waiting.set(call.id, ({ decision, reason = 'No.' }) =>
              resolve(decision === 'deny' ? { ...event, denied: { reason } } : event),
            );
            emit({ type: 'approval.request', id: call.id, reason: `May ${call.name} run?`, call });
          });
        },
      },
    };
  });

/** Replaces a secret in everything that the model reads. */
export const redact = (secret: string): TurnOperator =>
  operator({
    'tool.result': (event) => {
      const text = JSON.stringify(event.output);
      const output = JSON.parse(text.replaceAll(secret, '[redacted]')) as ToolResultOutput;
      return text.includes(secret) ? { ...event, output } : undefined;
    },
  });
