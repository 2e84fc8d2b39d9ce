import { project } from '../../tooling/vitest/project.js';

/** Without `module`: OpenTelemetry's build for bundlers omits file extensions, so Node.js cannot load it. */
const conditions = ['@h/source', 'node', 'import', 'default'];

export default { ...project(), resolve: { conditions }, ssr: { resolve: { conditions } } };
