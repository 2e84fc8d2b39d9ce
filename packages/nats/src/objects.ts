export { natsObjects, type NatsObjectsOptions } from './nats-objects.js';
