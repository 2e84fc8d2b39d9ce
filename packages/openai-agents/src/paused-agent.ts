import { AsyncLocalStorage } from 'node:async_hooks';
import { Runner } from '@openai/agents';

/** An agent within a tool call paused for an approval. The SDK repeats the call when the run is resumed. */
export class PausedAgent extends Error {
  /** What the tool returned to the SDK, which does not send it to the model. */
  readonly value: unknown;

  constructor(value: unknown) {
    super('An agent within the tool call paused for an approval.');
    this.name = 'PausedAgent';
    this.value = value;
  }
}

type RunOf = typeof Runner.prototype.run;
type Result = Awaited<ReturnType<RunOf>>;

/** The runs of agents within a tool call. */
const runsOfCall = new AsyncLocalStorage<Result[]>();
/** Not registered with `Symbol.for`: each loaded copy of this module has its own storage and replaces the method. */
const isObserved = Symbol('@h/openai-agents.isObserved');

/**
 * Runs a tool and rejects with `PausedAgent` if it is an agent, of `asTool()`, that paused for an approval. The SDK keeps
 * the result of that run to itself, so the method of its runner is replaced.
 */
export const unlessPaused = async <Value>(callId: string | undefined, run: () => Promise<Value>): Promise<Value> => {
  observeRuns();
  const results: Result[] = [];
  const value = await runsOfCall.run(results, run);
  const isPaused = results.some(
    ({ interruptions, agentToolInvocation }) =>
      interruptions.length > 0 && callId !== undefined && agentToolInvocation?.toolCallId === callId,
  );
  if (isPaused) throw new PausedAgent(value);
  return value;
};

const observeRuns = (): void => {
  const own = Runner.prototype as Runner & { [isObserved]?: true };
  if (own[isObserved] === true) return;
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the runner
  const { run } = own;
  own.run = async function (this: Runner, ...given: Parameters<RunOf>) {
    const result = await run.apply(this, given);
    runsOfCall.getStore()?.push(result);
    return result;
  } as RunOf;
  own[isObserved] = true;
};
