export { postgresLanes, type PostgresLanesOptions } from './lanes.js';
