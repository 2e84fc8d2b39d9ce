export { markOf, processState, thisProcess, type ProcessMark } from './process-mark.js';
