import type { CoreLanguage } from './stem-classes.js';
import { easternCore } from './stems-core-eastern.js';
import { northernCore } from './stems-core-northern.js';
import { slavicCore } from './stems-core-slavic.js';
import { southernCore } from './stems-core-southern.js';
import { westernCore } from './stems-core-western.js';

/** Languages in which only the core requests are known. */
export const coreLanguages: readonly CoreLanguage[] = [
  ...slavicCore,
  ...westernCore,
  ...northernCore,
  ...easternCore,
  ...southernCore,
];
