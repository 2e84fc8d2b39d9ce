import { project } from '../../tooling/vitest/project.js';

export default project();
