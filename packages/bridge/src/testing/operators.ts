import {
  deny,
  intercept,
  MessageList,
  retry,
  stop,
  textOf,
  type Handlers,
  type Message,
  type PipelineOperator,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';

const operator = (handlers: Handlers): TurnOperator => intercept('suite', () => handlers);

/** Denies calls of a tool. */
export const denying = (name: string, reason: string): TurnOperator =>
  operator({ decide: { 'tool.call': (event) => (event.call.name === name ? deny(event, reason) : undefined) } });

/** Replaces the input of all calls. */
export const rewriting = (input: unknown): TurnOperator =>
  operator({ decide: { 'tool.call': (event) => ({ ...event, call: { ...event.call, input } }) } });

/** Replaces a string in results. */
export const redacting = (secret: string, by: string): TurnOperator =>
  operator({
    decide: {
      'tool.result': (event) =>
        event.output.type === 'text' || event.output.type === 'error-text'
          ? { ...event, output: { ...event.output, value: event.output.value.replaceAll(secret, by) } }
          : undefined,
    },
  });

/** Retries the first failure of a model call. */
export const retrying = (): TurnOperator =>
  operator({ decide: { 'model.error': (event) => (event.attempt === 1 ? retry(event) : undefined) } });

/** Stops the turn before a step. */
export const stoppingAt = (step: number, reason: string): TurnOperator =>
  operator({
    decide: { 'model.request': (event) => (event.step === step ? stop('loop-detected', reason) : undefined) },
  });

/** Fails before a step. */
export const failingAt = (step: number): TurnOperator =>
  operator({
    decide: {
      'model.request': (event) => {
        if (event.step === step) throw new Error('Out of order.');
      },
    },
  });

/** Replaces the history once in a session, when it has this many messages. */
export const compacting = (length: number, summary: string): TurnOperator =>
  operator({
    decide: {
      'model.request': (event) => {
        const isCompacted = textOf(event.messages.at(0) ?? { role: 'user', content: '' }) === summary;
        if (isCompacted || event.messages.length < length) return undefined;
        const messages: Message[] = [{ role: 'user', content: summary }, ...event.messages.slice(-2)];
        return [
          { type: 'history.replace', messages, origin: 'suite' },
          { ...event, messages: MessageList.of(messages) },
        ];
      },
    },
  });

/**
 * Requests the approval of each call, or of those of some tools, and denies a call that a person denied.
 *
 * @param reasonOf - returns the reason of the request for a tool
 */
export const asking = (
  question: string,
  tools?: readonly string[],
  reasonOf: (tool: string) => string = () => question,
): TurnOperator =>
  intercept(question, ({ emit }) => {
    const held = new Map<string, (denial: string | undefined) => void>();
    return {
      decide: {
        'tool.call': (event) => {
          const { id, name, input } = event.call;
          if (tools?.includes(name) === false) return undefined;
          const request = `${question} ${id}`;
          emit({ type: 'approval.request', id: request, reason: reasonOf(name), call: { id, name, input } });
          return new Promise((resolve) => {
            held.set(request, (denial) => resolve(denial === undefined ? undefined : deny(event, denial)));
          });
        },
      },
      observe: {
        'approval.answer': ({ id, decision, reason = 'A person denied it.' }) =>
          held.get(id)?.(decision === 'deny' ? reason : undefined),
      },
    };
  });

/** Records the events of all turns. */
export class Spy {
  readonly events: (TurnEvent & { readonly inSession: string })[] = [];
  readonly #waiting = new Set<() => void>();
  readonly operator: PipelineOperator = intercept('spy', () => {
    let inSession = '';
    return {
      observe: {
        '*': (event) => {
          if (event.type === 'turn.start') inSession = event.session;
          this.events.push({ ...event, inSession });
          for (const resolve of this.#waiting) resolve();
          this.#waiting.clear();
        },
      },
    };
  });

  count(type: TurnEvent['type'], session?: string): number {
    return this.events.filter((event) => event.type === type && (session ?? event.inSession) === event.inSession)
      .length;
  }

  /** Returns the outcomes of the turns that have ended. */
  get outcomes(): readonly string[] {
    return this.events.flatMap((event) => (event.type === 'turn.end' ? [event.outcome] : []));
  }

  /** Resolves as soon as a turn has ended. */
  async ended(): Promise<void> {
    while (this.outcomes.length === 0) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }
}
