export { describePoolStore } from './describe-pool-store.js';
