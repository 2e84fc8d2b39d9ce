export { describeApprovalStore } from './describe-approval-store.js';
