import { createGitRepository } from '../src/repository.js';
import { addWorkTree } from '../src/work-tree.js';

const [root = '', folder = '', count = ''] = process.argv.slice(2);

/** Creates work trees of one repository at the same time, each through its own object, and removes them. */
const main = async (): Promise<void> => {
  await Promise.all(
    Array.from({ length: Number(count) }, async () => {
      const tree = await addWorkTree(createGitRepository({ root }), { folder, task: 'Write the docs' });
      await tree.remove();
    }),
  );
};

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
