import { LruMap } from '@h/bounded';
import { memoryApprovalStore, type ApprovalStore } from '@h/hooks';
import { partsOfSession } from '../service/session-id.js';

/** Tenants whose rules are stored. Those of the tenant that was not used for longest are removed first. */
const maxTenants = 1_000;

/** Stores approvals that apply always, in memory: for the sessions of the tenant whose user has given them. */
export const tenantApprovals = (): ApprovalStore => {
  const stores = new LruMap<string, ApprovalStore>(maxTenants);
  const storeOf = (session = ''): ApprovalStore => {
    const tag = partsOfSession(session)?.tag ?? '';
    const store = stores.get(tag) ?? memoryApprovalStore();
    stores.set(tag, store);
    return store;
  };
  return {
    list: (session) => storeOf(session).list(),
    add: (rule, session) => storeOf(session).add(rule),
  };
};
