// Stands for fast-check where a seed is given: properties then try the same examples in every run. The path is one that the
// alias does not apply to.
import { configureGlobal } from '../../node_modules/fast-check/lib/fast-check.js';

configureGlobal({ seed: Number(process.env['PROPERTY_SEED']) });

export * from '../../node_modules/fast-check/lib/fast-check.js';
// oxlint-disable-next-line import/no-default-export -- fast-check has one
export { default } from '../../node_modules/fast-check/lib/fast-check.js';
