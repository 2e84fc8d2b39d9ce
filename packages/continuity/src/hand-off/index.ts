export type { HandOffTrigger } from './events.js';
export { handOff, type HandOff } from './hand-off.js';
export type { HandOffOptions } from './options.js';
