import type { ObservationLevel } from './observation.js';

const words: readonly (readonly [ObservationLevel, RegExp])[] = [
  ['error', /[.-](?:error|exhausted|crashed|corrupt)$/],
  [
    'warn',
    /[.-](?:failed|unknown|suspicious|cooling|warning|warned|near|broken|blocked|denied|problem|skipped|detected|critical|exceeded|ignored|unselected|left-out|found|dropped|reached|cooldown|opened)$/,
  ],
  ['debug', /[.-](?:started|checked|state|debug)$/],
];

/** Returns the level of a notice, from the last word of its type. */
export const noticeLevel = (type: string): ObservationLevel =>
  words.find(([, pattern]) => pattern.test(type))?.[0] ?? 'info';

/** Returns the part of a type before the first dot. */
export const subsystemOf = (type: string): string => {
  const dot = type.indexOf('.');
  return dot > 0 ? type.slice(0, dot) : type;
};
