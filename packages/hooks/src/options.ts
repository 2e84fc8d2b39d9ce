import { checkOptions, numberFrom, objectWithMethods, oneOf, integerFrom, type OptionChecks } from '@h/options';
import type { ApprovalStore } from './approvals/store.js';

/** Options of {@link hooks}. */
export interface HooksOptions {
  /**
   * Time limit of a gate whose hook sets none, and of each call of the approval store, in milliseconds. `Infinity`
   * disables the limit.
   *
   * @defaultValue `15_000`; a user who waits longer for a tool call believes that the agent hangs
   */
  readonly gateTimeoutMs?: number | undefined;
  /**
   * Time limit of an observer whose hook sets none, in milliseconds. At the end of the turn, `closeGraceMs` of the
   * harness applies as well.
   *
   * @defaultValue `30_000`, twice the limit of a gate, because the turn does not wait for observers
   */
  readonly observerTimeoutMs?: number | undefined;
  /**
   * The decision about a tool call that no hook decides.
   *
   * @defaultValue `'allow'`
   */
  readonly otherwise?: 'allow' | 'ask' | 'deny' | undefined;
  /**
   * How often all hooks together may continue a turn from `beforeEnd`.
   *
   * @defaultValue `3`; more attempts seldom succeed
   */
  readonly maxSendBacks?: number | undefined;
  /**
   * Stores what a user allows permanently. Without it, `always` lasts as long as the session. If a store fails or
   * exceeds `gateTimeoutMs`, the user is asked, or the rule lasts for the session.
   */
  readonly approvalStore?: ApprovalStore | undefined;
  /**
   * How long an approval request stays open, in milliseconds; then the call is denied. `Infinity` disables the limit.
   *
   * @defaultValue `600_000`, ten minutes: a user who is present answers by then, and an unattended turn does not hang
   */
  readonly approvalTimeoutMs?: number | undefined;
}

const checks: OptionChecks<HooksOptions> = {
  gateTimeoutMs: numberFrom(0, Infinity),
  observerTimeoutMs: numberFrom(0, Infinity),
  otherwise: oneOf('allow', 'ask', 'deny'),
  maxSendBacks: integerFrom(0, Infinity),
  approvalStore: objectWithMethods('list', 'add'),
  approvalTimeoutMs: numberFrom(0, Infinity),
};

/** The options with their defaults. @throws InvalidOptionError `invalid-option` */
export const settingsOf = (options: HooksOptions) => {
  checkOptions('hooks()', options, checks);
  const {
    gateTimeoutMs = 15_000,
    observerTimeoutMs = 30_000,
    otherwise = 'allow',
    maxSendBacks = 3,
    approvalStore,
    approvalTimeoutMs = 600_000,
  } = options;
  return { gateTimeoutMs, observerTimeoutMs, otherwise, maxSendBacks, approvalStore, approvalTimeoutMs };
};
