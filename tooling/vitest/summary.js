/**
 * Prints the summary that `SummaryReporter` wrote to the given file: each skipped test with its reason, each flaky or
 * failed test with its first error, errors outside of tests, then the counts. Fails if a test failed, a test was skipped without a reason, or the tests did
 * not run.
 */
import { existsSync, readFileSync } from 'node:fs';

const [, , path = ''] = process.argv;

if (!existsSync(path)) {
  console.error('The tests did not run.');
  process.exitCode = 1;
} else {
  /** @type {import('./summary-reporter.js').Summary} */
  const { passed, failed, skipped, flaky, errors } = JSON.parse(readFileSync(path, 'utf8'));
  console.log(skipped.length === 0 ? 'Skipped tests: none' : 'Skipped tests:');
  for (const { file, name, reason } of skipped) console.log(`- ${file} > ${name}: ${reason ?? 'NO REASON GIVEN'}`);
  if (skipped.some(({ reason }) => reason === undefined)) {
    console.log("Give each skipped test a reason: context.skip(isMissing, 'bubblewrap is not installed').");
    process.exitCode = 1;
  }
  console.log(flaky.length === 0 ? 'Flaky tests: none' : 'Flaky tests:');
  for (const { file, name, error } of flaky) console.log(`- ${file} > ${name}: passed at the second attempt; ${error}`);
  if (failed.length > 0) console.log('Failed tests:');
  for (const { file, name, error } of failed) console.log(`- ${file} > ${name}: ${error}`);
  if (errors.length > 0) console.log('Errors outside of tests:');
  for (const error of errors) console.log(`- ${error}`);
  if (failed.length + errors.length > 0) process.exitCode = 1;
  console.log(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped, ${flaky.length} flaky`);
}
