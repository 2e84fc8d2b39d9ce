import type { ChildRecord, ChildStore } from '../src/child/record.js';

/** Stores records in memory, so that one team can recover the records of another. */
export const memoryChildStore = (): ChildStore => {
  const records = new Map<string, ChildRecord>();
  return {
    save: (record) => void records.set(record.id, record),
    delete: (id) => void records.delete(id),
    list: () => [...records.values()],
  };
};
