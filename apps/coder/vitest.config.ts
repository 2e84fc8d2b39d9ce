import { mergeConfig } from 'vitest/config';
import { project } from '../../tooling/vitest/project.js';

export default mergeConfig(project({ isolate: true }), { test: { globalSetup: ['test/bundle-app.ts'] } });
