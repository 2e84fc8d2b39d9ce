export { attach, type Attached, type AttachOptions, type AttachStop, type ModelChoice } from './attach.js';
