// Replaces fast-check when a seed is given, so that properties try the same examples in every run. It imports
// fast-check by path, because the alias applies to the name.
import { configureGlobal } from '../../node_modules/fast-check/lib/fast-check.js';

configureGlobal({ seed: Number(process.env['PROPERTY_SEED']) });

export * from '../../node_modules/fast-check/lib/fast-check.js';
// oxlint-disable-next-line import/no-default-export -- fast-check has one
export { default } from '../../node_modules/fast-check/lib/fast-check.js';
