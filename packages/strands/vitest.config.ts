import { project } from '../../tooling/vitest/project.js';

export default project({ newerNode: { minimum: '22.0', folder: import.meta.dirname } });
