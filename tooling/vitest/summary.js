/**
 * Prints what a test run left in the file that is given: each skipped test with its reason, then the counts. Fails when
 * the tests did not run, or when one was skipped without a reason.
 */
import { existsSync, readFileSync } from 'node:fs';

const [, , path = ''] = process.argv;

if (!existsSync(path)) {
  console.error('The unit tests did not run.');
  process.exitCode = 1;
} else {
  /** @type {import('./summary-reporter.js').Summary} */
  const { passed, failed, skipped, errors } = JSON.parse(readFileSync(path, 'utf8'));
  console.log(skipped.length === 0 ? 'Skipped tests: none' : 'Skipped tests:');
  for (const { file, name, reason } of skipped) console.log(`- ${file} > ${name}: ${reason ?? 'NO REASON GIVEN'}`);
  if (skipped.some(({ reason }) => reason === undefined)) {
    console.log("Say why a test is skipped: context.skip(isMissing, 'bubblewrap is not installed').");
    process.exitCode = 1;
  }
  if (errors > 0) console.log(`Errors outside of tests: ${errors}`);
  if (failed + errors > 0) process.exitCode = 1;
  console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
}
