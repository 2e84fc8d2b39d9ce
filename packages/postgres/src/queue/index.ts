export { postgresLanes, type PostgresLanesOptions } from './lanes.js';
export { postgresInbox, type PostgresInbox, type PostgresInboxOptions, type Submission } from './inbox.js';
