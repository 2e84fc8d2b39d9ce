import { explainedDisable } from './rules/explained-disable.js';
import { noClock } from './rules/no-clock.js';
import { noModuleState } from './rules/no-module-state.js';
import { packageImports } from './rules/package-imports.js';
import { zodNamespace } from './rules/zod-namespace.js';

/** The custom lint rules of this repository. */
export default {
  meta: { name: 'h' },
  rules: {
    'explained-disable': explainedDisable,
    'no-clock': noClock,
    'no-module-state': noModuleState,
    'package-imports': packageImports,
    'zod-namespace': zodNamespace,
  },
};
