export { NatsBucketError, NatsError } from './errors.js';
export { natsSessions, SessionClaimedError, type NatsSessions, type NatsSessionsOptions } from './nats-sessions.js';
