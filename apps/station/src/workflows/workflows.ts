import { createHash, randomUUID } from 'node:crypto';
import { CodedError } from '@h/options';
import { processState, thisProcess } from '@h/process';
import type { JSONValue } from '@h/turn';
import type { StationRun, StationWorkflow } from '../api/contract.js';
import { executeRun, RunReleased, type StepRunner } from './execute-run.js';
import type { RunStore, StoredRun } from './run-store.js';
import { targetsOf, type Workflow } from './schema.js';

/** Options of {@link createWorkflows}. */
export interface WorkflowsOptions extends StepRunner {
  readonly workflows: readonly Workflow[];
  readonly store: RunStore;
  /** Receives a run after each change by this process. */
  readonly onChange?: ((run: StationRun, tenant: string) => void) | undefined;
  /** Receives errors of the store, after which a run waits for `resume()`. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /**
   * Time in milliseconds after which another process takes over the run of a process that it cannot check.
   *
   * @defaultValue `30_000`, the default of `@h/files`
   */
  readonly leaseMs?: number | undefined;
  /** Milliseconds since 1970. @defaultValue the system clock */
  readonly now?: (() => number) | undefined;
}

/** Runs workflows. Runs of other tenants do not exist for a caller. */
export interface Workflows {
  list(): Promise<readonly StationWorkflow[]>;
  runs(tenant: string): Promise<readonly StationRun[]>;
  run(tenant: string, id: string): Promise<StationRun | undefined>;
  /**
   * Starts a run.
   *
   * @param key a repeated call with the same key starts one run
   * @throws CodedError `unknown-workflow`
   */
  start(tenant: string, workflow: string, input: Readonly<Record<string, unknown>>, key?: string): Promise<StationRun>;
  /** Ends a run, in whichever process it is executed. */
  cancel(tenant: string, id: string): Promise<StationRun | undefined>;
  /**
   * Continues runs whose process has ended. Call it at the start and every few seconds.
   *
   * @returns how many it continues
   */
  resume(): Promise<number>;
  /** Waits until no run is executed here. */
  idle(): Promise<void>;
  /** Stops executing runs and releases them; another process, or the next start, continues them. */
  close(): Promise<void>;
}

const defaultLeaseMs = 30_000;

/** Creates a durable executor of workflows: a run continues after `kill -9` with the step that was not recorded. */
export const createWorkflows = (options: WorkflowsOptions): Workflows => {
  const { workflows, store, onChange, onError, leaseMs = defaultLeaseMs, now = () => Date.now() } = options;
  const owner = randomUUID();
  const mark = thisProcess();
  const active = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();
  let isClosed = false;

  const lease = (): NonNullable<StoredRun['owner']> => ({ id: owner, process: mark, until: now() + leaseMs });
  const isFree = ({ owner: holder, current }: StoredRun): boolean =>
    current !== null &&
    (holder === null || holder.id === owner || holder.until <= now() || processState(holder.process) === 'dead');
  const emit = (run: StoredRun): StoredRun => {
    onChange?.(shownRun(run), run.tenant);
    return run;
  };

  const execute = (id: string): void => {
    if (isClosed || active.has(id)) return;
    const stop = new AbortController();
    const owned = (run: StoredRun | undefined): StoredRun => {
      if (isClosed || run === undefined || (run.current !== null && run.owner?.id !== owner)) throw new RunReleased();
      return run;
    };
    /** A store that fails is no failure of a step: the run is released, and continues from what is recorded. */
    const stored = (work: Promise<StoredRun | undefined>): Promise<StoredRun> =>
      work.then(owned, (error: unknown) => {
        onError?.(error);
        throw new RunReleased();
      });
    const renewal = setInterval(() => {
      store
        .update(id, (run) => (run.owner?.id === owner ? { ...run, owner: lease() } : undefined))
        .then((run) => {
          if (run === undefined || run.isCancelled || run.owner?.id !== owner) stop.abort();
        })
        // If no renewal succeeds, the lease ends, and another process takes the run over.
        .catch((error: unknown) => onError?.(error));
    }, leaseMs / 3);
    const run = async (): Promise<void> => {
      const claimed = await store.update(id, (run) => (isFree(run) ? { ...run, owner: lease() } : undefined));
      if (claimed?.owner?.id !== owner || claimed.current === null) return;
      if (claimed.isCancelled) stop.abort();
      await executeRun({
        ...options,
        now,
        signal: stop.signal,
        read: () => stored(store.get(id)),
        change: async (change) =>
          emit(
            await stored(store.update(id, (run) => (run.owner?.id === owner && !isClosed ? change(run) : undefined))),
          ),
      });
    };
    const done = run()
      .catch((error: unknown) => {
        if (!(error instanceof RunReleased)) onError?.(error);
      })
      .finally(() => {
        clearInterval(renewal);
        // Other branches of a parallel state may still run.
        stop.abort();
        active.delete(id);
      });
    active.set(id, { stop, done });
  };

  const find = async (tenant: string, id: string): Promise<StoredRun | undefined> => {
    const run = await store.get(id);
    return run?.tenant === tenant ? run : undefined;
  };

  return {
    list: () => Promise.resolve(workflows.map(shownWorkflow)),
    runs: async (tenant) => (await store.list(tenant)).map(shownRun),
    run: async (tenant, id) => {
      const run = await find(tenant, id);
      return run && shownRun(run);
    },
    start: async (tenant, workflow, input, key) => {
      const definition = workflows.find(({ id }) => id === workflow);
      const [first] = definition?.states ?? [];
      if (definition === undefined || first === undefined) {
        const known = workflows.map(({ id }) => id).join(', ');
        throw new CodedError(
          'unknown-workflow',
          `The workflow "${workflow}" does not exist. Known workflows: ${known}.`,
        );
      }
      const id = key === undefined ? randomUUID().replaceAll('-', '') : hash(`${tenant}\n${workflow}\n${key}`);
      const run: StoredRun = {
        id,
        tenant,
        workflow: definition,
        input: input as Readonly<Record<string, JSONValue>>,
        state: 'running',
        current: first.name,
        visit: 1,
        startedAt: now(),
        endedAt: null,
        error: null,
        steps: [],
        isCancelled: false,
        owner: null,
      };
      if (await store.insert(run)) {
        emit(run);
        execute(id);
      }
      return shownRun((await store.get(id)) ?? run);
    },
    cancel: async (tenant, id) => {
      if ((await find(tenant, id)) === undefined) return undefined;
      const changed = await store.update(id, (run) =>
        run.current === null ? undefined : { ...run, isCancelled: true },
      );
      const executed = active.get(id);
      executed?.stop.abort();
      // A run that no process executes ends here; another process notices the cancellation when it renews its lease.
      if (executed === undefined && changed !== undefined && isFree(changed)) execute(id);
      await active.get(id)?.done;
      const run = await store.get(id);
      return run && shownRun(run);
    },
    resume: async () => {
      const free = (await store.list()).filter((run) => isFree(run) && !active.has(run.id));
      for (const { id } of free) execute(id);
      return free.length;
    },
    idle: async () => {
      while (active.size > 0) await Promise.all([...active.values()].map(({ done }) => done));
    },
    close: async () => {
      isClosed = true;
      const open = [...active];
      for (const [, { stop }] of open) stop.abort();
      await Promise.all(open.map(([, { done }]) => done));
      for (const [id] of open) {
        await store.update(id, (run) => (run.owner?.id === owner ? { ...run, owner: null } : undefined));
      }
    },
  };
};

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

const shownWorkflow = ({ id, name, description, states }: Workflow): StationWorkflow => ({
  id,
  name,
  description,
  states: states.map((state) => ({ name: state.name, type: state.type, next: [...targetsOf(state)] })),
});

/** The form of the HTTP interface. A branch of a parallel state is named `state/branch`. */
const shownRun = (run: StoredRun): StationRun => ({
  id: run.id,
  workflow: run.workflow.id,
  state: run.state,
  startedAt: run.startedAt,
  endedAt: run.endedAt,
  error: run.error,
  steps: run.steps.map(({ state, branch, visit: _visit, ...step }) => ({
    ...step,
    state: branch === null ? state : `${state}/${branch}`,
    output: step.output as StationRun['steps'][number]['output'],
  })),
});
