import { project } from '../../tooling/vitest/project.js';

export default project({
  newerNode: { minimum: '22.0', folder: import.meta.dirname },
  // The AWS SDK, which Strands loads, has code for bundlers that does not run in Node.
  asNode: true,
});
