import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandPermissions } from './command-permissions.js';

const everydayReading = JSON.parse(
  readFileSync(new URL('../../test/everyday-reading.json', import.meta.url), 'utf8'),
) as readonly string[];

describe('allowWrite: false', () => {
  const permissions = commandPermissions({ allowWrite: false });

  it('allows every everyday line that only reads', () => {
    expect(everydayReading.length).toBeGreaterThanOrEqual(300);
    const refused = everydayReading.flatMap((line) => {
      const { decision, reason } = permissions(line, { cwd: '/work' });
      return decision === 'allow' ? [] : [`${line}  →  ${reason}`];
    });
    expect(refused).toEqual([]);
  });

  it.each([
    'make version',
    'node version',
    'python3 -v',
    'pytest -v',
    'vim -v',
    'mysql -v',
    'psql version',
    'tmux -v',
    'arch -arm64 touch x',
    'nm @arguments',
    'addr2line -e @arguments',
    'date --iso-8601 --set=x',
    'journalctl -n --rotate',
    'journalctl --boot --vacuum-time=1s',
    'ag -A --pager=./run.sh a',
    'tree --charset -o x',
    'cloc --vcs=./run.sh .',
    'cloc -w x',
    'docker exec api touch x',
    'docker exec -w ls -u cat api touch x',
    'docker exec -e A=b api ls',
    'docker compose exec -T api sh -c ls',
    'kubectl exec -n ls pod-0 -c cat -- touch x',
    'kubectl exec ls -- touch x',
    'aws s3api get-object --bucket b --key k out',
    'aws sts get-session-token',
    'aws secretsmanager get-secret-value --secret-id x',
    "psql -l -c 'drop table x'",
    "psql -c '\\d' -c '\\! touch x'",
    "psql -c '\\d `touch x`'",
    'codesign -d --entitlements x y',
    'scutil',
    'ssh-add',
    'ssh-keygen -lf k -y',
    'svn diff --diff-cmd ./run.sh',
    'svn cat svn+x://y',
    'sysctl a=1',
    'service nginx stop',
    'npm run build',
    'npm audit fix',
    'pip config edit',
    'curl -X DELETE http://x',
    'redis-cli --scan flushall',
    'gcloud container clusters get-credentials x',
  ])('denies %s', (line) => {
    expect(permissions(line, { cwd: '/work' }).decision).toBe('deny');
  });
});

describe('commandPermissions for substitutions', () => {
  it('denies a command that writes, at any place of a word', () => {
    const policies = [
      commandPermissions({ allowWrite: false }),
      commandPermissions({ allowedCommands: ['ls', 'cat', 'echo', '['] }),
    ];
    const starts = fc.constantFrom(
      '',
      '~',
      '~/',
      '~x',
      '~+',
      'a',
      '/',
      '--a=',
      '-',
      '=',
      '[',
      '{a,',
      '@',
      '"',
      '"~',
      '$x',
      '${x}',
    );
    const substitutions = fc.constantFrom(
      '$(touch x)',
      '`touch x`',
      '${y:-$(touch x)}',
      '$((a[$(touch x)]))',
      '<(touch x)',
    );
    const ends = fc.constantFrom('', '/', 'a', '*', '~', '.ts');
    const contexts = fc.constantFrom<(word: string) => string>(
      (word) => `echo ${word}`,
      (word) => `ls -d -- ${word}`,
      (word) => `cat < ${word}`,
      (word) => `cat <<< ${word}`,
      (word) => `x=${word}`,
      (word) => `x=(${word})`,
      (word) => `for f in ${word}; do ls; done`,
      (word) => `case ${word} in a) ls;; esac`,
      (word) => `[[ -n ${word} ]]`,
      (word) => `[ ${word} = a ]`,
      (word) => `echo \${x:-${word}}`,
    );
    fc.assert(
      fc.property(starts, substitutions, ends, contexts, (start, substitution, end, context) => {
        // A process substitution within quotes is text.
        fc.pre(!(start.startsWith('"') && substitution.startsWith('<')));
        const closed = start.startsWith('"') ? '"' : start.startsWith('{') ? '}' : start === '[' ? ']' : '';
        const line = context(start + substitution + end + closed);
        for (const policy of policies) expect(policy(line, { cwd: '/work/app' }).decision, line).not.toBe('allow');
      }),
      { numRuns: 400 },
    );
  });
});
