import { project } from '../../tooling/vitest/project.js';

export default project({ newerNode: { minimum: '22.13', folder: import.meta.dirname } });
