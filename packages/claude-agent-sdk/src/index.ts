export { attach, type Attached, type AttachOptions } from './attach.js';
