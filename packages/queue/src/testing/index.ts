export { describeLanes, type LanesFactory } from './describe-lanes.js';
