import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bashConfig, createBashPolicy, type BashPermissions } from './permissions.js';

const decide = async (permissions: BashPermissions, line: string) =>
  (await createBashPolicy(permissions)(line, { cwd: '/work' })).decision;

describe('without rules', () => {
  it('allows every line, even one that cannot be parsed', async () => {
    expect(await decide({}, 'rm -rf /')).toBe('allow');
    expect(await decide({}, 'if then "')).toBe('allow');
  });
});

describe('allowedCommands', () => {
  const allowedCommands = ['ls', 'cat', 'git status', 'npm run test', 'xargs', 'bash', './gradlew', 'find', 'env'];

  it.each([
    'ls',
    'ls -la "a b" | cat',
    'git status --short',
    'npm run test -- --watch',
    'ls && cat x; ls || cat y',
    '(ls; { cat x; })',
    'cat <<EOF\nrm -rf /\nEOF',
    'ls "$dir" *.js ~/x',
    'x=1; ls $x',
    'ls > /dev/null',
    'LANG=C ls',
    'find . -exec cat {} +',
    'xargs -0 ls',
    'bash -c "ls; cat x"',
    'for f in a b; do cat "$f"; done',
    'env LANG=C ls',
    './gradlew test',
    'ls \\\n -l',
    "'ls'",
    '# rm',
    'ls "rm -rf /; $(cat x)"',
  ])('allow %j', async (line) => {
    expect(await decide({ allowedCommands }, line)).toBe('allow');
  });

  it.each([
    'rm -rf /',
    'ls && rm -rf /',
    'ls;rm x',
    'ls\nrm x',
    'ls & rm x',
    'ls | tee x',
    'ls $(rm x)',
    'ls `rm x`',
    'cat <(rm x)',
    'ls > >(rm x)',
    'cat <<EOF\n$(rm x)\nEOF',
    '(rm x)',
    '{ rm x; }',
    'f() { rm x; }; ls',
    'if rm x; then ls; fi',
    'while ls; do rm x; done',
    'case $(rm x) in a) ls;; esac',
    '[[ $(rm x) ]]',
    '(( $(rm x) ))',
    'ls ${x:-$(rm y)}',
    '$cmd',
    '"$cmd" x',
    '$(echo ls)',
    'l*',
    '/tmp/evil/ls',
    './ls',
    'git',
    'git push',
    'git -C x status',
    'git $x',
    'npm run build',
    'npm "$x"',
    'ls > out',
    'PATH=/tmp/evil ls',
    'PATH=/tmp/evil; ls',
    'export PATH=/tmp/evil; ls',
    'LD_PRELOAD=./x ls',
    'env PATH=/tmp/evil ls',
    'BASH_ENV=x ls',
    'xargs rm',
    'xargs -I {} rm {}',
    'xargs --arg-file x rm',
    'find . -exec rm {} ;',
    'find . -type f -okdir rm {} +',
    'bash -c "rm x"',
    'bash -ec "rm x"',
    'bash -c "$x"',
    'eval rm x',
    'sudo ls',
    'time rm x',
    '! rm x',
    'coproc rm x',
    'exec rm x',
    'command rm x',
    '. ./x',
    'source x',
    'alias ls=rm',
    'trap "rm x" EXIT',
    'ls "',
    'ls; if',
    'ls )',
    'l\0s',
    'ls ;; rm',
    'env -S "rm x"',
    'env -S"rm x"',
    'env --split-string="rm x" ls',
  ])('refuse %j', async (line) => {
    expect(await decide({ allowedCommands }, line)).toBe('deny');
  });

  it('deny everything if the list is empty', async () => {
    expect(await decide({ allowedCommands: [] }, 'ls')).toBe('deny');
  });

  it('list the allowed commands in the reason', async () => {
    expect(await createBashPolicy({ allowedCommands: ['ls', 'git status'] })('rm x', { cwd: '/' })).toEqual({
      decision: 'deny',
      reason: '"rm" is not among the allowed commands: ls, git status.',
    });
  });
});

describe('blockedCommands', () => {
  const blockedCommands = ['rm', 'sudo', 'git push', 'npm publish'];

  it.each([
    'ls',
    'echo rm',
    'grep "rm -rf" x',
    'git status',
    'git commit -m "rm and push"',
    'npm test',
    'cat rm',
    'git add "$file"',
    'git log $range',
    'echo "git push"',
    'cat <<EOF\nrm\nEOF',
    'cargo run',
    'firm x',
    'bash build.sh',
  ])('allow %j', async (line) => {
    expect(await decide({ blockedCommands }, line)).toBe('allow');
  });

  it.each([
    'rm x',
    '\\rm x',
    '/bin/rm x',
    "r''m x",
    '"rm" x',
    "$'\\x72m' x",
    'RM x',
    'ls; rm x',
    'env rm x',
    'env A=1 rm x',
    'env -u A rm x',
    'nohup rm x',
    'timeout 5 rm x',
    'timeout -s KILL 5 rm x',
    'nice -n 5 rm x',
    'nice -n5 rm x',
    'ls | xargs rm',
    'xargs -n 1 rm',
    'xargs -n1 rm',
    'find . -exec rm {} +',
    'bash -c "rm x"',
    "sh -c 'ls; rm x'",
    'bash -lc "rm x"',
    'eval "rm x"',
    'busybox rm x',
    'command rm x',
    'stdbuf -oL rm x',
    'bash -c "bash -c \'rm x\'"',
    'sudo ls',
    'setsid rm x',
    'git push',
    'git -C x push',
    'git -c a=b push --force',
    'git --no-pager push',
    'git $x',
    '$cmd',
    'bash -c "$x"',
    'npm --silent publish',
    'npm publish',
    'sudo -u root rm x',
    'xargs --max-args 1 rm',
    'ls "',
  ])('refuse %j', async (line) => {
    expect(await decide({ blockedCommands }, line)).toBe('deny');
  });

  it('win over allowedCommands', async () => {
    expect(await decide({ allowedCommands: ['git'], blockedCommands: ['git push'] }, 'git push')).toBe('deny');
    expect(await decide({ allowedCommands: ['git'], blockedCommands: ['git push'] }, 'git pull')).toBe('allow');
  });
});

describe('allowWrite: false', () => {
  it.each([
    'ls -la',
    'cat a b | sort | uniq -c | head -5',
    'grep -rn "rm -rf" src',
    'find . -name "*.ts" -type f',
    'git status',
    'git log --oneline -5',
    'git diff HEAD~1 -- src',
    'sed -n 5,10p x',
    'sed -n "5p" x y',
    'ls 2>/dev/null',
    'ls >/dev/null 2>&1',
    'wc -l < x',
    'cd src && ls',
    'date +%s',
    'x=$(ls); echo "$x"',
    'find . -name x -exec cat {} +',
    'ls | xargs wc -l',
    'rg -n foo',
    'uniq x',
    'env',
    'test -f x && echo y',
    'tail -n +5 x',
  ])('allows %j', async (line) => {
    expect(await decide({ allowWrite: false }, line)).toBe('allow');
  });

  it.each([
    'rm x',
    'echo hi > x',
    'echo hi >> x',
    'ls &> x',
    'ls >| x',
    'ls >&x',
    'ls > "$x"',
    '{ ls; } > x',
    '> x',
    'cat x | tee y',
    'touch x',
    'npm test',
    'sed -i s/a/b/ x',
    "sed -n 's/a/b/w out' x",
    'sed -n 5p -i x',
    'awk "{print > \\"x\\"}" y',
    'find . -delete',
    'find . -exec rm {} +',
    'find . -fprint x',
    'find . $x',
    'sort -o x y',
    'sort -uo x y',
    'sort -ox y',
    'sort --output=x y',
    'sort --out=x y',
    'sort $x',
    'sort --compress-program=./x y',
    'uniq x y',
    'git checkout x',
    'git -c core.pager=./x log',
    'git log --output=x',
    'git diff --outp=x',
    'git diff --ext-diff',
    'git grep -O./x y',
    'git branch x',
    'git $x',
    'date -s 0',
    'date 010100002030',
    'tree -o x',
    'rg --pre ./x y',
    'xxd -r x y',
    'xargs rm',
    'bash x.sh',
    './x',
    'python -c 1',
    'cp a b',
    'curl x',
    'PATH=/tmp/evil ls',
    'GIT_EXTERNAL_DIFF=./x git diff',
    'tee x',
    'nohup ls',
    'ls "',
  ])('refuses %j', async (line) => {
    expect(await decide({ allowWrite: false }, line)).toBe('deny');
  });
});

describe('judge', () => {
  it('decides last, but cannot override a denial', async () => {
    const asked: unknown[] = [];
    const judge: BashPermissions['judge'] = (command, context) => {
      asked.push([command, context]);
      return { decision: 'allow' };
    };
    expect(await decide({ blockedCommands: ['rm'], judge }, 'rm x')).toBe('deny');
    expect(asked).toEqual([]);
    expect(await decide({ blockedCommands: ['rm'], judge }, 'ls')).toBe('allow');
    expect(asked).toEqual([['ls', { cwd: '/work' }]]);
  });

  it('returns the findings of the judge', async () => {
    const judge: BashPermissions['judge'] = () => ({
      decision: 'ask',
      findings: [{ why: 'It rewrites history.', instead: 'Use --force-with-lease.' }, { why: 'It is Sunday.' }],
    });
    expect(await createBashPolicy({ judge })('git push -f', { cwd: '/' })).toEqual({
      decision: 'ask',
      reason: 'It rewrites history. Use --force-with-lease. It is Sunday.',
    });
  });

  it('denies if it throws, rejects or returns an unknown decision', async () => {
    expect(
      await decide(
        {
          judge: () => {
            throw new Error('broken');
          },
        },
        'ls',
      ),
    ).toBe('deny');
    expect(await decide({ judge: () => Promise.reject(new Error('broken')) }, 'ls')).toBe('deny');
    expect(await decide({ judge: () => ({ decision: 'sure' }) as never }, 'ls')).toBe('deny');
    expect(await decide({ judge: () => undefined as never }, 'ls')).toBe('deny');
  });
});

describe('the options', () => {
  it.each([
    [{ allowedCommands: ['git *'] }, 'allowedCommands[0]'],
    [{ blockedCommands: ['rm -rf *'] }, 'blockedCommands[0]'],
    [{ blockedCommands: [''] }, 'blockedCommands[0]'],
    [{ blockedCommands: ['a  b'] }, 'blockedCommands[0]'],
    [{ allowedCommands: ['ls; rm'] }, 'allowedCommands[0]'],
    [{ allow_write: false }, 'allow_write'],
    [{ judge: 'yes' }, 'judge'],
  ])('refuse %j', (permissions, option) => {
    expect(() => createBashPolicy(permissions as never)).toThrow(expect.objectContaining({ option }) as Error);
  });
});

it('can be read from configuration files', async () => {
  const permissions = bashConfig({
    allow_write: false,
    allowed_commands: ['ls', 'cat', 'touch'],
    blocked_commands: ['cat'],
  });
  expect(await decide(permissions, 'ls')).toBe('allow');
  for (const line of ['touch x', 'cat x', 'head x']) expect(await decide(permissions, line)).toBe('deny');
  expect(() => bashConfig({ allowWrite: false })).toThrow(/"allowWrite"/);
});

it('never throws, and decides deterministically, for any line', async () => {
  const piece = fc.constantFrom(
    'rm',
    'ls',
    ' ',
    ';',
    '|',
    '&&',
    '$(',
    ')',
    '"',
    "'",
    '`',
    '<<EOF\n',
    'EOF',
    '\n',
    '{',
    '}',
    '((',
    '[[',
    '>',
    'bash -c ',
    'find . -exec ',
    'xargs ',
    '\\',
    '$x',
    '#',
    '\0',
    '😀',
  );
  const policy = createBashPolicy({
    allowWrite: false,
    allowedCommands: ['ls', 'bash', 'find', 'xargs'],
    blockedCommands: ['rm'],
  });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const line = pieces.join('');
      const first = await policy(line, { cwd: '/' });
      expect(first).toEqual(await policy(line, { cwd: '/' }));
    }),
    { numRuns: 200 },
  );
});

it('decides on hostile lines of any length', async () => {
  const policy = createBashPolicy({ blockedCommands: ['rm'] });
  for (const piece of [
    '$(',
    '(',
    '{ ',
    '"',
    '`',
    'a|',
    'bash -c "',
    "$'\\",
    'x=',
    '<<E\n',
    '[[ ',
    '${',
    'find -exec ',
    'env ',
    'f() ',
    'xargs ',
    'eval ',
    'a;',
    '{a,',
    '<(',
    'case x in ',
  ]) {
    const { decision } = await policy(piece.repeat(20_000), { cwd: '/' });
    expect(['allow', 'deny']).toContain(decision);
  }
});
