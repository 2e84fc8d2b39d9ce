import { anyBoolean, anyFunction, integerFrom, oneOf, recordOf, type OptionChecks } from '@h/options';
import type { TurnEnding } from '@h/turn';
import type { BridgeOptions } from './bridge.js';

/** Why an operator ended a turn. */
export interface AttachStop extends TurnEnding {
  readonly session: string;
}

/** A model that an operator such as `failover` chose; `undefined` is the host's own. */
export interface ModelChoice {
  readonly model: string | undefined;
  /** Id of the credential. */
  readonly credential: string | undefined;
}

/** Options of every bridge to a host. */
export interface HostOptions extends Pick<BridgeOptions<never>, 'effects' | 'approve' | 'maxSessions'> {
  /** Called when an operator stopped the turn. */
  readonly onStop?: ((stop: AttachStop) => void) | undefined;
  /**
   * Accepts operators that handle events which the host does not have; a process warning names them.
   *
   * @defaultValue `false`: such an operator is an error
   */
  readonly partial?: boolean | undefined;
}

/** Checks of {@link HostOptions}. */
export const hostOptionChecks = {
  effects: recordOf(oneOf('read-only', 'local-write', 'network', 'destructive')),
  approve: anyFunction,
  maxSessions: integerFrom(1),
  onStop: anyFunction,
  partial: anyBoolean,
} satisfies OptionChecks<HostOptions>;
