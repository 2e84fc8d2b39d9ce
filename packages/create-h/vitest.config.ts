import { project } from '../../tooling/vitest/project.js';

const { test, ...config } = project();

/** The tests in the template run with `node --test` in the created project. */
export default { ...config, test: { ...test, exclude: [...(test?.exclude ?? []), 'template/**'] } };
