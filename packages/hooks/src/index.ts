import './events.js';

export type * from './hook.js';
