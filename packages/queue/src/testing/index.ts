export { describeLanes } from './describe-lanes.js';
