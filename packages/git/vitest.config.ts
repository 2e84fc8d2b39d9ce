import { mergeConfig } from 'vitest/config';
import { project } from '../../tooling/vitest/project.js';

export default mergeConfig(project(), { test: { globalSetup: './test/templates-folder.ts' } });
