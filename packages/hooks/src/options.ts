import { checkOptions, numberFrom, objectWithMethods, oneOf, integerFrom, type OptionChecks } from '@h/options';
import type { ApprovalStore } from './approvals/store.js';

/** Options of {@link hooks}. */
export interface HooksOptions {
  /**
   * Time limit of a gate whose hook sets none, and of each call of the approval store, in milliseconds. `Infinity`
   * disables the limit.
   *
   * @defaultValue `15_000`; after a longer delay, an agent appears to hang
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
   * The maximum number of times that all hooks together can continue a turn from `beforeEnd`.
   *
   * @defaultValue `3`; more attempts seldom succeed
   */
  readonly maxSendBacks?: number | undefined;
  /**
   * Stores permanent approvals. Without a store, `always` applies to the session only. If `list()` fails or exceeds
   * `gateTimeoutMs`, the hook asks the user; if `add()` does, the rule applies to the session only.
   */
  readonly approvalStore?: ApprovalStore | undefined;
  /**
   * Time limit of an approval request in milliseconds. An expired request denies the call. `Infinity` disables the
   * limit.
   *
   * @defaultValue `600_000`, ten minutes: enough for a user who is present, and an unattended turn still ends
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

/** Validates the options and applies the defaults. @throws InvalidOptionError `invalid-option` */
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
