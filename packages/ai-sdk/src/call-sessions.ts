import type { LanguageModelV4Content } from '@ai-sdk/provider';
import { TurnError } from '@h/turn';

/** Maximum number of calls with a stored session: those of the latest step of each session. */
const maxCalls = 10_000;

/** The runs of the SDK by their arrays of steps, and of messages, which `execute` of the tools of a step receives. */
export class Runs {
  readonly #runs = new WeakMap<object, string>();

  get(array: object): string | undefined {
    return this.#runs.get(array);
  }

  set(array: object, run: string): void {
    this.#runs.set(array, run);
  }
}

/** The calls of the latest answer of a session. */
interface OpenCalls {
  readonly ids: readonly string[];
  readonly run: string | undefined;
}

/** Maps runs and calls to sessions, because `execute` does not receive the session. */
export class CallSessions {
  /** The sessions that have an open call with this id: models may number their calls in each answer. */
  readonly #sessions = new Map<string, readonly string[]>();
  readonly #runs = new Map<string, string>();
  readonly #calls = new Map<string, OpenCalls>();

  /**
   * Returns the session of a run, or of the call if its run is unknown, such as an approved call of an earlier run.
   *
   * @throws TurnError `shared-call-id` if the run is unknown and several sessions have a call with this id
   */
  sessionOf(toolCallId: string | undefined, run: string | undefined): string | undefined {
    const known = run === undefined ? undefined : this.#runs.get(run);
    if (known !== undefined || toolCallId === undefined) return known;
    const [session, other] = this.#sessions.get(toolCallId) ?? [];
    if (session !== undefined && other !== undefined) throw sharedCall(toolCallId, [session, other]);
    return session;
  }

  /** Adds the calls of an answer. */
  add(session: string, run: string | undefined, content: readonly LanguageModelV4Content[]): void {
    const ids = content.flatMap((part) =>
      part.type === 'tool-call' && part.providerExecuted !== true ? [part.toolCallId] : [],
    );
    if (ids.length === 0) return;
    this.clear(session);
    for (const id of ids) {
      const other = this.#sessions.get(id)?.find((one) => run === undefined || this.#calls.get(one)?.run === undefined);
      if (other !== undefined) throw sharedCall(id, [other, session]);
    }
    for (const id of new Set(ids)) this.#sessions.set(id, [...(this.#sessions.get(id) ?? []), session]);
    if (run !== undefined) this.#runs.set(run, session);
    this.#calls.set(session, { ids, run });
    const [oldest] = this.#calls.keys();
    if (this.#sessions.size > maxCalls && oldest !== undefined) this.clear(oldest);
  }

  /** Forgets the calls of a session. */
  clear(session: string): void {
    const { ids = [], run } = this.#calls.get(session) ?? {};
    for (const id of ids) {
      const others = this.#sessions.get(id)?.filter((other) => other !== session) ?? [];
      if (others.length > 0) this.#sessions.set(id, others);
      else this.#sessions.delete(id);
    }
    if (run !== undefined) this.#runs.delete(run);
    this.#calls.delete(session);
  }
}

const sharedCall = (id: string, [one, other]: readonly [string, string]): TurnError =>
  new TurnError(
    'shared-call-id',
    `The sessions ${JSON.stringify(one)} and ${JSON.stringify(other)} both have an open call with the id ${JSON.stringify(id)}, so its result could reach the wrong one. Pass \`prepareStep\` of attach() to the SDK, or call attach() once for each session.`,
  );
