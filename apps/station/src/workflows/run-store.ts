import type { ProcessMark } from '@h/process';
import type { JSONValue } from '@h/turn';
import type { Workflow } from './schema.js';

/** A step of a run: an attempt at a state, or at a branch of a parallel state. */
export interface RunStep {
  readonly state: string;
  /** The branch of a parallel state. */
  readonly branch: string | null;
  /** Which visit of the state the step belongs to, from 1. */
  readonly visit: number;
  readonly attempt: number;
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly session: string | null;
  readonly approval: string | null;
  readonly output: JSONValue;
  readonly error: string | null;
}

/** A run as it is stored. It contains its workflow, so that a change of the file does not change it. */
export interface StoredRun {
  readonly id: string;
  readonly tenant: string;
  readonly workflow: Workflow;
  readonly input: Readonly<Record<string, JSONValue>>;
  readonly state: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
  /** The state that is executed next or now; `null` after the end. */
  readonly current: string | null;
  /** Which visit of the current state it is, from 1. */
  readonly visit: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly error: string | null;
  readonly steps: readonly RunStep[];
  /** Set when a caller has cancelled the run; the process that executes it then ends it. */
  readonly isCancelled: boolean;
  /** The process that executes the run. */
  readonly owner: { readonly id: string; readonly process: ProcessMark; readonly until: number } | null;
}

/** Stores runs. A confirmed change survives `kill -9`, and changes of one run are atomic, also between processes. */
export interface RunStore {
  get(id: string): Promise<StoredRun | undefined>;
  /** Runs of a tenant, or of all, latest first. */
  list(tenant?: string): Promise<readonly StoredRun[]>;
  /** Adds a run unless its id exists. @returns whether it was added */
  insert(run: StoredRun): Promise<boolean>;
  /**
   * Replaces a run by what `change` returns; `undefined` leaves it unchanged. `change` may be called again.
   *
   * @returns the run afterwards
   */
  update(id: string, change: (current: StoredRun) => StoredRun | undefined): Promise<StoredRun | undefined>;
}

/** Keeps runs until the process ends. */
export const memoryRuns = (): RunStore => {
  const runs = new Map<string, StoredRun>();
  return {
    get: (id) => Promise.resolve(runs.get(id)),
    list: (tenant) =>
      Promise.resolve([...runs.values()].toReversed().filter((run) => tenant === undefined || run.tenant === tenant)),
    insert: (run) => {
      const isNew = !runs.has(run.id);
      if (isNew) runs.set(run.id, run);
      return Promise.resolve(isNew);
    },
    update: (id, change) => {
      const current = runs.get(id);
      const next = current && change(current);
      if (next !== undefined) runs.set(id, next);
      return Promise.resolve(next ?? current);
    },
  };
};
