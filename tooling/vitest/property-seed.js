import { configureGlobal } from 'fast-check';

// Loaded only where a seed is given: properties then try the same examples in every run.
configureGlobal({ seed: Number(process.env['PROPERTY_SEED']) });
