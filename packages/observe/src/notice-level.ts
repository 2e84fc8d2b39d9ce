import type { ObservationLevel } from './observation.js';

const words: readonly (readonly [ObservationLevel, RegExp])[] = [
  ['error', /[.-](?:error|exhausted|crashed|corrupt)$/],
  [
    'warn',
    /[.-](?:failed|unknown|suspicious|cooling|warning|warned|near|broken|blocked|denied|problem|skipped|detected|critical|exceeded|ignored|unselected|left-out|found|dropped|reached|cooldown|opened)$/,
  ],
  ['debug', /[.-](?:started|checked|state|debug)$/],
];

/** How much a notice matters, told by the last word of its name. */
export const noticeLevel = (type: string): ObservationLevel =>
  words.find(([, pattern]) => pattern.test(type))?.[0] ?? 'info';

/** The part of a name before the first dot. */
export const subsystemOf = (type: string): string => {
  const dot = type.indexOf('.');
  return dot > 0 ? type.slice(0, dot) : type;
};
