import { readFile } from 'node:fs/promises';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** Resolution modes that are not checked, because the packages are ESM only. */
const ignoredResolutions = new Set(['node10', 'node16-cjs']);

/**
 * Returns the problems of a package in its published form.
 *
 * @type {(tarball: string) => Promise<string[]>}
 */
export const publishedProblems = async (tarball) => {
  const data = await readFile(tarball);
  const bytes = Uint8Array.from(data);
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
  const analysis = await checkPackage(createPackageFromTarballData(bytes));
  const types = analysis.types === false ? [{ kind: 'NoTypes' }] : analysis.problems;
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`),
    ...types
      .filter((problem) => !('resolutionKind' in problem && ignoredResolutions.has(String(problem.resolutionKind))))
      .map((problem) => `attw: ${JSON.stringify(problem)}`),
  ];
};
