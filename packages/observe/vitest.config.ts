import { project } from '../../tooling/vitest/project.js';

/** What the SDK of OpenTelemetry offers to bundlers (`module`) leaves out file extensions, so that Node.js cannot load it. */
const conditions = ['@h/source', 'node', 'import', 'default'];

export default { ...project(), resolve: { conditions }, ssr: { resolve: { conditions } } };
