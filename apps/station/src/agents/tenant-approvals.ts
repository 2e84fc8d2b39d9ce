import { LruMap } from '@h/bounded';
import { memoryApprovalStore, type ApprovalStore } from '@h/hooks';
import { partsOfSession } from '../service/session-id.js';

/** Agents of tenants whose rules are stored. Those that were not used for longest are removed first. */
const maxStores = 1_000;

/**
 * Stores approvals that apply always, in memory: for the sessions of the agent and the tenant that they were given in.
 */
export const tenantApprovals = (): ApprovalStore => {
  const stores = new LruMap<string, ApprovalStore>(maxStores);
  const storeOf = (session = ''): ApprovalStore => {
    const parts = partsOfSession(session);
    const key = parts ? `${parts.agent}.${parts.tag}` : '';
    const store = stores.get(key) ?? memoryApprovalStore();
    stores.set(key, store);
    return store;
  };
  return {
    list: (session) => storeOf(session).list(),
    add: (rule, session) => storeOf(session).add(rule),
  };
};
