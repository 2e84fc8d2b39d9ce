// Replaces fast-check in all tests. It imports fast-check by path, because the alias applies to the name.
import { configureGlobal } from '../../node_modules/fast-check/lib/fast-check.js';

const seed = process.env['PROPERTY_SEED'];

configureGlobal({
  // Otherwise arrays and strings have at most ten elements, whatever their `maxLength`.
  defaultSizeToMaxWhenMaxSpecified: true,
  // With a seed, properties try the same examples in every run.
  ...(seed === undefined ? {} : { seed: Number(seed) }),
});

export * from '../../node_modules/fast-check/lib/fast-check.js';
// oxlint-disable-next-line import/no-default-export -- fast-check has one
export { default } from '../../node_modules/fast-check/lib/fast-check.js';
