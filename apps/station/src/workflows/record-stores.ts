import type { Records } from '../service/records.js';
import type { Tick, TickStore } from '../triggers/tick-store.js';
import type { RunStore, StoredRun } from './run-store.js';

/** Maximum number of runs in a list. */
const maxRuns = 100_000;

/** Stores runs of workflows with the records of the service. */
export const recordRuns = (records: Records): RunStore => ({
  get: async (id) => (await records.get('run', id))?.body.run as StoredRun | undefined,
  list: async (tenant) =>
    (await records.list('run', { tenant, limit: maxRuns })).map(({ body }) => body.run as StoredRun),
  insert: (run) => records.insert({ kind: 'run', id: run.id, tenant: run.tenant, at: run.startedAt, body: { run } }),
  update: async (id, change) => {
    const record = await records.update('run', id, (current) => {
      const next = current && change(current.body.run as StoredRun);
      return current && next && { ...current, body: { run: next } };
    });
    return record?.body.run as StoredRun | undefined;
  },
});

/** Stores claims of ticks with the records of the service. */
export const recordTicks = (records: Records): TickStore => {
  const idOf = ({ trigger, key }: Pick<Tick, 'trigger' | 'key'>): string => `${trigger}:${key}`;
  return {
    claim: (tick) => records.insert({ kind: 'tick', id: idOf(tick), tenant: tick.trigger, at: tick.at, body: tick }),
    finish: async (tick) => {
      const body = { ...tick, isDone: true, payload: '{}' };
      await records.update('tick', idOf(tick), (current) => current && { ...current, body });
    },
    takeOver: async (tick, to) => {
      let isTaken = false;
      const mark = JSON.stringify(tick.process);
      await records.update('tick', idOf(tick), (current) => {
        isTaken = current?.body.isDone === false && JSON.stringify(current.body.process) === mark;
        return isTaken && current ? { ...current, body: { ...tick, process: to } } : undefined;
      });
      return isTaken;
    },
    latest: async (trigger, limit) => (await records.list('tick', { tenant: trigger, limit })).map(({ body }) => body),
  };
};
