export { classifyError, type ClassifyOptions, type ErrorClass, type ErrorReason } from '@h/provider-errors';
export {
  createCredentialPool,
  type Cooldown,
  type CredentialPool,
  type CredentialPoolOptions,
  type ProfileStatus,
} from './pool/credential-pool.js';
export type { PoolState, PoolStore } from './pool/pool-store.js';
export type { CredentialProfile, IssuedKey, KeySource } from './pool/profile.js';
export type { Lease, LeaseRequest, Unavailable } from './pool/profile-picker.js';
export type { CooldownWindow } from './pool/windows.js';
export { reasonActions, type CooldownTime, type ReasonAction } from './decide.js';
export { exponentialBackoff, type Backoff, type ExponentialBackoffOptions } from './backoff.js';
export { splitModelName, type ModelChoice } from './chain.js';
export type { FailoverTarget, FailoverTransition } from './events.js';
export { failover } from './failover.js';
export type { ActionChanges, FailoverOptions } from './options.js';
export { redactKeys } from './stream/redact-keys.js';
export { streamTimeouts, type StreamTimeoutsOptions } from './stream/stream-timeouts.js';
