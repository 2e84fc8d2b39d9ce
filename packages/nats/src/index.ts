export { NatsBucketError, NatsError } from './errors.js';
export { natsSessions, type NatsSessions, type NatsSessionsOptions } from './nats-sessions.js';
