import { TurnError, type JournalRecord, type TurnEventOf } from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';

/** The members of a request that are large and rarely change within a turn. */
const repeatedMembers = ['system', 'tools'] as const;

type Repeated = Pick<TurnEventOf<'model.request'>, (typeof repeatedMembers)[number]>;

/**
 * Encodes the records of a journal in order.
 *
 * A request whose system blocks or tools equal those of the previous request in the turn is written without them, and
 * `same` names the omitted parts. A journal then grows with the new content of a step, not with the prompt.
 */
export class RecordWriter {
  #last: Repeated | undefined;

  encode(record: JournalRecord): string {
    const { seq, event } = record;
    if (seq === 0) this.#last = undefined;
    if (event.type !== 'model.request') return encodeRecord(record);
    const last = this.#last;
    this.#last = event;
    const same = last
      ? repeatedMembers.filter((member) => event[member].length > 0 && event[member] === last[member])
      : [];
    if (same.length === 0) return encodeRecord(record);
    const rest = { ...event };
    for (const member of same) rest[member] = [];
    return `${encodeRecord({ ...record, event: rest }).slice(0, -1)},"same":${JSON.stringify(same)}}`;
  }
}

/** Decodes the records of a journal in order, from the start of a turn. */
export class RecordReader {
  #last: Repeated | undefined;

  /** @throws TurnError `invalid-record` */
  decode(json: string): JournalRecord {
    const { same, ...record } = decodeRecord(json) as JournalRecord & { readonly same?: unknown };
    const { seq, event } = record;
    if (seq === 0) this.#last = undefined;
    if (event.type !== 'model.request') return record;
    const restored = same === undefined ? event : { ...event, ...this.#repeated(seq, same) };
    this.#last = restored;
    return { ...record, event: restored };
  }

  #repeated(seq: number, same: unknown): Partial<Repeated> {
    const last = this.#last;
    if (!last || !Array.isArray(same)) {
      throw new TurnError('invalid-record', `Record ${seq} repeats a request that the journal does not contain.`);
    }
    return Object.fromEntries(
      repeatedMembers.filter((member) => same.includes(member)).map((member) => [member, last[member]]),
    );
  }
}
