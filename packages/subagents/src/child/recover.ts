import { noUsage, type MaybePromise, type UnfinishedTurn } from '@h/turn';
import { anyFunction, checkOptions } from '@h/options';
import { stillThere } from './child-end.js';
import { createChild } from './create-child.js';
import type { Child } from '../team/family.js';
import { Gate } from '../team/gate.js';
import { unrestricted } from '../rights/policy.js';
import type { ChildEnd, ChildRecord } from './record.js';
import type { Team } from '../team/team.js';

/** A sub-agent whose process died. */
export interface Orphan {
  readonly record: ChildRecord & { readonly end: ChildEnd };
  /** Whether its agent can resume its turn, although its parent is informed that it was interrupted. */
  readonly isResumable: boolean;
  /** The session that receives the result; `undefined` if the receiver was code of the dead process. */
  readonly toldTo: string | undefined;
}

/** Options of `recover()`. */
export interface RecoverOptions {
  /** Lists unfinished turns of the store that holds the sessions of sub-agents: `unfinished` of the agent. */
  readonly unfinished?: (() => MaybePromise<readonly UnfinishedTurn[]>) | undefined;
  /**
   * Returns whether this process is responsible for the root session of a tree. Other trees are ignored.
   *
   * @defaultValue all
   */
  readonly sessions?: ((session: string) => boolean) | undefined;
}

/** Marks sub-agents whose process died as interrupted, and informs their parents in the next turn. */
export const recover = async (team: Team, options: RecoverOptions = {}): Promise<readonly Orphan[]> => {
  checkOptions('recover()', options, { unfinished: anyFunction, sessions: anyFunction });
  const { unfinished, sessions = () => true } = options;
  const isOurs = ({ root }: ChildRecord): boolean => sessions(root);
  const records = ((await team.options.store?.list(isOurs)) ?? []).filter(isOurs);
  const turns = new Set(((await unfinished?.()) ?? []).map(({ turn }) => turn));
  const known = new Set(team.family.all().flatMap(({ children }) => [...children].map(({ record }) => record.id)));
  const orphans: Orphan[] = [];
  const adopted: Child[] = [];
  const changed = new Set<Child>();
  const writing: Promise<void>[] = [];
  for (const record of records) {
    if (known.has(record.id)) continue;
    const isResumable = turns.has(record.turn);
    const end = record.end ?? interrupted(record, isResumable, unfinished !== undefined);
    const toldTo = record.receiver === 'parent' ? record.root : undefined;
    // A parent that is a sub-agent died as well, so the agent at the top is informed.
    if (toldTo === undefined) writing.push(quietly(() => team.options.store?.delete(record.id)));
    else {
      const child = team.family.adopt(toldTo, (parent) =>
        createChild(parent, { record: { ...record, end, parent: toldTo }, policy: unrestricted, gate: closedGate() }),
      );
      adopted.push(child);
      if (record.end === undefined || record.parent !== toldTo) changed.add(child);
    }
    orphans.push({ record: { ...record, end }, isResumable, toldTo });
  }
  for (const child of adopted) team.unread.add(child);
  // Results beyond the limit were dropped with their records.
  for (const child of changed) writing.push(team.records.change(child, {}));
  await Promise.all(writing);
  for (const session of new Set(orphans.flatMap(({ toldTo }) => toldTo ?? []))) team.wake(session);
  return orphans.filter(({ record }) => record.end.status === 'interrupted');
};

/** Ignores a failed write, which is repeated at the next start. The history shows then what was delivered. */
const quietly = async (write: () => unknown): Promise<void> => {
  try {
    await write();
  } catch {
    // The parents are informed anyway.
  }
};

/** A gate for a sub-agent that has ended and never enters it. */
const closedGate = (): Gate => new Gate(0);

const interrupted = (
  { id, agent, session, task, isolated }: ChildRecord,
  isResumable: boolean,
  isSure: boolean,
): ChildEnd => {
  const wasBegun = isResumable
    ? 'while its turn ran'
    : isSure
      ? 'before its turn began, or before its result was stored'
      : 'before it ended';
  return {
    child: id,
    agent,
    session,
    task,
    status: 'interrupted',
    reason: `The process died ${wasBegun}. Its effects until then remain.`,
    text: '',
    textChars: 0,
    steps: 0,
    usage: noUsage,
    durationMs: 0,
    ...(isolated !== undefined && { note: stillThere(isolated) }),
  };
};
