import { checkOptions, numberFrom, objectWithMethods, oneOf, integerFrom, type OptionChecks } from '@h/options';
import type { ApprovalStore } from './approvals/store.js';

/** Options of {@link hooks}. */
export interface HooksOptions {
  /**
   * How long a gate may take whose hook does not say, in milliseconds. `Infinity` disables the limit.
   *
   * @defaultValue `15_000`, within which people still believe that something happens
   */
  readonly gateTimeoutMs?: number | undefined;
  /**
   * How long an observer may take whose hook does not say, in milliseconds. At the end of the turn the harness's
   * `closeGraceMs` counts besides.
   *
   * @defaultValue `30_000`, twice the limit of a gate, because the turn does not wait for it
   */
  readonly observerTimeoutMs?: number | undefined;
  /**
   * Decides tool calls that no hook has decided.
   *
   * @defaultValue `'allow'`
   */
  readonly otherwise?: 'allow' | 'ask' | 'deny' | undefined;
  /**
   * How often all hooks together may send a turn back to work.
   *
   * @defaultValue `3`; more attempts seldom succeed
   */
  readonly maxSendBacks?: number | undefined;
  /** Where what a person allows for ever is kept. Without it `always` lasts as long as the session. */
  readonly approvalStore?: ApprovalStore | undefined;
  /**
   * How long a request for approval stays open, in milliseconds; then the call is denied. `Infinity` waits for ever.
   *
   * @defaultValue `600_000`, ten minutes: a user who is present answers by then, and an unattended turn does not hang
   */
  readonly approvalTimeoutMs?: number | undefined;
}

/** Options of {@link lateHooks}. */
export type LateHooksOptions = Pick<HooksOptions, 'observerTimeoutMs'>;

const timeouts: OptionChecks<LateHooksOptions> = { observerTimeoutMs: numberFrom(0, Infinity) };

const checks: OptionChecks<HooksOptions> = {
  ...timeouts,
  gateTimeoutMs: numberFrom(0, Infinity),
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

/** The options with their defaults. @throws InvalidOptionError `invalid-option` */
export const lateSettingsOf = (options: LateHooksOptions) => {
  checkOptions('lateHooks()', options, timeouts);
  return { gateTimeoutMs: 0, observerTimeoutMs: options.observerTimeoutMs ?? 30_000 };
};
