import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { needApproval, needNothing } from '../../test/approvals.js';
import { dangerous, everyday, place } from '../../test/corpus.js';
import {
  approvalRules,
  commandPolicy,
  commandRules,
  judgeCommand,
  requiresApproval,
  type CommandDecision,
} from '../index.js';

const decide = (command: string): CommandDecision => judgeCommand(command, place).decision;

describe('judgeCommand for lists of commands', () => {
  it('allows no dangerous command', () => {
    expect(dangerous.length).toBeGreaterThan(350);
    expect(dangerous.filter((command) => decide(command) === 'allow')).toEqual([]);
  });

  it('raises at most one false alarm in a hundred everyday commands', () => {
    expect(everyday.length).toBeGreaterThan(900);
    const alarms = everyday.filter((command) => decide(command) !== 'allow');
    expect(alarms.length / everyday.length, alarms.join('\n')).toBeLessThanOrEqual(0.01);
  });

  it('denies no everyday command outright', () => {
    expect(everyday.filter((command) => decide(command) === 'deny')).toEqual([]);
  });

  it('has an example for each rule', () => {
    const hit = new Set(
      [...dangerous, ...needApproval.map(([command]) => command), ':;'.repeat(6_000)].flatMap((command) =>
        requiresApproval(command, place).map(({ rule }) => rule),
      ),
    );
    expect([...commandRules, ...approvalRules].map(({ rule }) => rule).filter((rule) => !hit.has(rule))).toEqual([]);
  });

  it('gives each rule a unique name and a reason', () => {
    const rules = [...commandRules, ...approvalRules];
    expect(new Set(rules.map(({ rule }) => rule)).size).toBe(rules.length);
    for (const { rule, why, instead } of rules) {
      expect(rule).toMatch(/^[a-z]+\/[a-z0-9-]+$/);
      expect(why).toMatch(/\.$/);
      expect(instead ?? '.').toMatch(/\.$/);
    }
  });
});

describe('judgeCommand for the commands that a line runs', () => {
  it.each<readonly [string, CommandDecision]>([
    ['grep "rm -rf /" notes.md', 'allow'],
    ['echo rm -rf /', 'allow'],
    ['git commit -m "rm -rf / is bad"', 'allow'],
    ['cat <<EOF\nrm -rf /\nEOF', 'allow'],
    ["cat > a.md <<'EOF'\n$(rm -rf /)\nEOF", 'allow'],
    ['# rm -rf /', 'allow'],
    ['alias rmrf="rm -rf"', 'allow'],
    ['rm -rf node_modules dist', 'allow'],
    ['git push --force-with-lease', 'ask'],
    ['git clean -n', 'allow'],
    ['', 'allow'],
    ['   \n', 'allow'],
    ['git checkout -bfix', 'allow'],
    ['git push --force', 'deny'],
    ['git "$SUBCOMMAND" --force', 'ask'],
    ['kubectl "$ACTION" namespace prod', 'ask'],
    ['rm -rf /', 'deny'],
    ['rm -rf "$X"', 'ask'],
    ['rm "', 'ask'],
  ])('%s: %s', (command, decision) => {
    expect(decide(command)).toBe(decision);
  });

  it('judges paths relative to the folder of an earlier cd', () => {
    expect(decide('cd dist && rm -rf *')).toBe('allow');
    expect(decide('cd .. && rm -rf app')).toBe('ask');
    expect(decide('cd / && rm -rf usr')).toBe('deny');
    expect(decide('(cd /) ; rm -rf usr')).toBe('allow');
  });

  it('judges paths by the given project folder', () => {
    expect(judgeCommand('rm -rf /srv/app/dist', { cwd: '/srv/app', home: '/home/me' }).decision).toBe('allow');
    expect(judgeCommand('rm -rf /srv/app/dist', { cwd: '/work', home: '/home/me' }).decision).toBe('ask');
    expect(judgeCommand('rm -rf /srv', { cwd: '/srv/app', home: '/home/me' }).decision).toBe('deny');
    expect(judgeCommand('rm -rf dist', { cwd: '/', home: '/root' }).decision).toBe('ask');
  });

  it('judges a subfolder by the folder of the project', () => {
    const folder = { cwd: '/work/app/packages/a', home: '/home/me' };
    expect(judgeCommand('rm -rf ../b/dist', { ...folder, project: '/work/app' }).decision).toBe('allow');
    expect(judgeCommand('rm -rf ../b/dist', folder).decision).toBe('ask');
    expect(requiresApproval('rm -rf ../b/dist', { ...folder, project: '/work/app' })).toEqual([]);
    expect(commandPolicy()('rm -rf ../..', { ...folder, project: '/work/app' }).decision).toBe('ask');
  });

  it('follows variables, and each of the values that branches assign', () => {
    expect(decide('D=build; rm -rf "$D"')).toBe('allow');
    expect(decide('D=/; rm -rf "$D"')).toBe('deny');
    expect(decide('D=build; if x; then D=/; fi; rm -rf "$D"')).toBe('deny');
    expect(decide('rm -rf "${D:-build}"')).toBe('allow');
    expect(decide('rm -rf "build/$D"')).toBe('allow');
    expect(decide('rm -rf "$D/build"')).toBe('ask');
    expect(decide('rm -rf "/$D"')).toBe('ask');
  });

  it('reports the command, the reason and the alternative', () => {
    expect(judgeCommand('ls && sudo git -C app push "$REMOTE" --force', place)).toEqual({
      decision: 'deny',
      findings: [
        {
          rule: 'git/force-push',
          decision: 'deny',
          argv: ['git', '-C', 'app', 'push', '"$REMOTE"', '--force'],
          why: 'It overwrites commits of other people on the remote.',
          instead: 'Push a new commit; git push --force-with-lease requires approval.',
        },
      ],
    });
  });

  it('lists denials before questions, and each finding once', () => {
    const { findings } = judgeCommand('git reset --hard; git reset --hard; git push -f', place);
    expect(findings.map(({ rule }) => rule)).toEqual(['git/force-push', 'git/reset-hard']);
  });

  it('limits the findings of a line with many dangerous commands', () => {
    const line = Array.from({ length: 100 }, (_, index) => `rm -rf /etc/${index} /usr`).join('; ');
    expect(judgeCommand(line, place).findings).toHaveLength(20);
  });
});

describe('requiresApproval', () => {
  it.each(needApproval)('asks about %s: %s', (command, rule) => {
    expect(requiresApproval(command, place).map((finding) => finding.rule)).toContain(rule);
  });

  it.each(needNothing)('needs no approval for %s', (command) => {
    expect(requiresApproval(command, place)).toEqual([]);
  });

  it('takes the options of a policy', () => {
    expect(requiresApproval('git push', { ...place, allow: ['git push'] })).toEqual([]);
    expect(requiresApproval('git push', { ...place, decisions: { 'approval/push': 'deny' } })).toMatchObject([
      { decision: 'deny' },
    ]);
    expect(requiresApproval('git push', { ...place, rules: commandRules })).toEqual([]);
  });
});

describe('a custom policy', () => {
  it('overrides the decisions of rules', () => {
    const judge = commandPolicy({
      decisions: { 'git/clean': 'allow', 'git/reset-hard': 'deny', 'shell/unparsable': 'deny' },
      home: '/home/me',
    });
    expect(judge('git clean -fdx', place).decision).toBe('allow');
    expect(judge('git reset --hard', place).decision).toBe('deny');
    expect(judge('rm "', place).decision).toBe('deny');
  });

  it('applies other rules', () => {
    const rule = { rule: 'own/curl', decision: 'deny', programs: ['curl'], why: 'No network here.' } as const;
    expect(judgeCommand('bash -c "curl x"', { ...place, rules: [rule] })).toMatchObject({
      decision: 'deny',
      findings: [{ rule: 'own/curl' }],
    });
    expect(judgeCommand('rm -rf /', { ...place, rules: [rule] }).decision).toBe('allow');
  });

  it('denies, asks and allows by patterns, denials first', () => {
    const judge = commandPolicy({
      deny: ['npm install *'],
      ask: ['npm run *'],
      allow: ['npm publish *', 'npm install left-pad'],
    });
    expect(judge('cd x && npm install', place).findings).toMatchObject([{ rule: 'policy/deny', decision: 'deny' }]);
    expect(judge('npm install left-pad', place).decision).toBe('deny');
    expect(judge('npm run build', place).findings).toMatchObject([{ rule: 'policy/ask', decision: 'ask' }]);
    expect(judge('npm publish --tag next', place).decision).toBe('allow');
    expect(judge('sudo npm publish', place).decision).toBe('allow');
    expect(judge('npm publish; rm -rf /', place).decision).toBe('deny');
  });

  it('matches only known words and paths without ".." by a star', () => {
    const judge = commandPolicy({ allow: ['rm -rf /srv/*', 'git push', 'echo *', 'bash *'] });
    expect(judge('rm -rf /srv/old', place).decision).toBe('allow');
    expect(judge('rm -rf /srv/old /etc', place).decision).toBe('deny');
    expect(judge('rm -rf /srv/../etc', place).decision).toBe('deny');
    expect(judge('rm -rf "/srv/$X/.."', place).decision).not.toBe('allow');
    expect(judge('git push --force', place).decision).toBe('deny');
    expect(judge('echo x > /etc/passwd', place).decision).not.toBe('allow');
    expect(judge('bash -c "rm -rf /"', place).decision).toBe('deny');
  });

  it('judges paths by the given home folder', () => {
    expect(judgeCommand('rm -rf ~/.ssh', { cwd: '/work', home: '/elsewhere' }).decision).toBe('deny');
    expect(judgeCommand('rm -rf /elsewhere', { cwd: '/work', home: '/elsewhere' }).decision).toBe('deny');
    expect(judgeCommand('rm -rf /elsewhere', { cwd: '/work', home: '/home/me' }).decision).toBe('ask');
  });

  it.each<readonly [object, RegExp]>([
    [
      { denyy: [] },
      /unknown option "denyy" \(received \[\]\)\. Did you mean "deny"\? Known options: rules, decisions, allow, ask, deny, home/,
    ],
    [{ deny: ['*'] }, /"deny\[0\]" must be a pattern like "npm run \*"; received "\*"/],
    [{ deny: 'git push' }, /"deny" must be .*; received "git push"/],
    [{ allow: [''] }, /"allow\[0\]"/],
    [{ home: 'me' }, /"home" must be an absolute path; received "me"/],
    [
      { decisions: { 'git/force': 'allow' } },
      /names the unknown rule "git\/force" \(received "allow"\)\. Known rules: git\/force-push, /,
    ],
    [
      { decisions: { 'git/clean': 'maybe' } },
      /"decisions\['git\/clean'\]" must be "allow" or "ask" or "deny"; received "maybe"/,
    ],
    [{ rules: [{ rule: 'x' }] }, /"rules\[0\]\.decision" is required/],
    [{ rules: [{ rule: 'x', decision: 'deny', why: 'x', programms: [] }] }, /unknown option "rules\[0\]\.programms"/],
    [
      { rules: [{ rule: 'x', decision: 'deny', why: 'x', argument: /x/g }] },
      /"rules\[0\]\.argument" must be .*; received \/x\/g/,
    ],
    [{ project: 'relative' }, /"project" must be an absolute path; received "relative"/],
    [{ cwd: 'relative' }, /"cwd" must be an absolute path; received "relative"/],
  ])('refuses %j', (options, message) => {
    expect(() => judgeCommand('ls', { ...place, ...options })).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringMatching(message) as string }) as Error,
    );
  });

  it('rejects a command that is not a string', () => {
    expect(() => judgeCommand(undefined as unknown as string, place)).toThrow(
      /"command" must be a string; received undefined/,
    );
  });
});

describe('judgeCommand for hostile input', () => {
  const pieces = fc.constantFrom(
    '"',
    "'",
    '`',
    '$(',
    ')',
    '${',
    '}',
    '((',
    '))',
    '[[',
    ']]',
    '<<EOF',
    '\n',
    ';',
    '|',
    '&&',
    '||',
    '&',
    '>',
    '<(',
    '$',
    '\\',
    '{',
    '{a,b}',
    '~',
    '*',
    '?',
    '!',
    '#',
    'rm',
    '-rf',
    '/',
    'git',
    'push',
    '--force',
    'eval',
    'bash',
    '-c',
    'xargs',
    'find',
    '-exec',
    'sudo',
    'env',
    'cd',
    'if',
    'then',
    'fi',
    'for',
    'in',
    'do',
    'done',
    'case',
    'esac',
    'f()',
    'function',
    'alias',
    'x=1',
    '$x',
    '$@',
    '"$x"',
    'psql',
    'DROP TABLE x',
    'awk',
    'python',
    '\u{FFFF}',
    '\u{0}',
    '\u{D800}',
    '🙂',
    ' ',
    ' ',
    ' ',
  );

  it('never throws for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 200 }),
          fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join(' ')),
          fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join('')),
        ),
        (command) => {
          expect(['allow', 'ask', 'deny']).toContain(decide(command));
        },
      ),
      { numRuns: 800 },
    );
  });

  it('finds a dangerous command before, after and within any Bash syntax', () => {
    const harmless = fc.constantFrom(
      'ls -la',
      'npm test',
      'echo "x; y"',
      'cat <<EOF\nx\nEOF',
      'X=1',
      'cd src',
      'grep -r "$P" . | head',
      'true || false',
      'f() { ls; }',
      'for i in a b; do echo $i; done',
    );
    const wrap = fc.constantFrom<(line: string) => string>(
      (line) => `(${line})`,
      (line) => `{ ${line}; }`,
      (line) => `if true; then ${line}; fi`,
      (line) => `bash -c '${line}'`,
      (line) => `echo "$(${line})"`,
      (line) => `sudo -n ${line}`,
      (line) => `${line} > /dev/null 2>&1 &`,
    );
    fc.assert(
      fc.property(
        fc.array(harmless, { maxLength: 3 }),
        wrap,
        fc.array(harmless, { maxLength: 3 }),
        (before, wrapper, after) => {
          expect(decide([...before, wrapper('git push --force'), ...after].join('\n'))).toBe('deny');
        },
      ),
      { numRuns: 200 },
    );
  });

  let length = 8_000;
  const many = (text: string, chars = length): string => text.repeat(Math.ceil(chars / text.length));
  const hostile = (): readonly (readonly [string, string])[] => [
    ['open brackets', many('(')],
    ['open substitutions', many('$(')],
    ['open backticks', many('`')],
    ['open quotes', many('"$(')],
    ['quotes in quotes', many(`"'`)],
    ['open braces', many('{a,')],
    ['brace expansions', many('{a,b}')],
    ['open expansions', many('${a:-')],
    ['open arithmetic', many('$((')],
    ['here-documents', many('<<a ')],
    ['backslashes', many('\\')],
    ['commands', many('rm -rf a;')],
    ['words', `rm ${many('a ')}`],
    ['globs', `rm -rf ${many('*?[')}`],
    ['slashes', `rm -rf ${many('/')}`],
    ['parents', `rm -rf ${many('../')}`],
    ['options', `git push ${many('-f ')}`],
    ['shells in shells', many('bash -c "')],
    ['evals', many('eval ')],
    ['sudos', many('sudo ')],
    ['envs', many('env -x ')],
    ['xargs', many('xargs ')],
    ['finds', `find ${many('-exec rm {} ; ')}`],
    ['functions', many('f(){ f; };')],
    ['aliases', many('alias a=b;')],
    ['variables', `x=a;${many('x=$x$x;')}rm -rf $x`],
    ['loops', many('for i in a b c; do ', 5_000)],
    ['loops in loops', `${'for i in a b c d e f g h; do '.repeat(12)}rm $i${'; done'.repeat(12)}`],
    [
      'functions that call each other',
      `${Array.from({ length: 30 }, (_, index) => `f${index + 1}(){ f${index}; f${index}; }`).join(';')}; f30`,
    ],
    ['SQL', `psql -c "${many('ALTER TABLE DELETE FROM ')}"`],
    ['SQL comments', `psql -c "${many('/* ')}"`],
    ['code', `python -c '${many('system("')}'`],
    ['more code', `node -e '${many('rmSync(')}'`],
    ['pipes', many('a|')],
    ['negations', many('! ')],
    ['tests', `[[ ${many('! ')}`],
    ['a heredoc', `cat > a <<'EOF'\n${many('rm -rf / $( ` " \n')}\nEOF`],
    ['printf', `printf '${many('%s')}' a b c d | sh`],
    ['tmux', `tmux ${many('a ')}`],
    ['cases', many('case x in ')],
    ['arrays', `a=(${many('x ')}); rm "\${a[@]}"`],
  ];

  /** CPU time of a decision in milliseconds, the least of four: other threads of the process can only add to it. */
  const timeOf = (command: string): number =>
    Math.min(
      ...[1, 2, 3, 4].map(() => {
        const startedAt = process.cpuUsage();
        decide(command);
        const { user, system } = process.cpuUsage(startedAt);
        return (user + system) / 1_000;
      }),
    );

  const short = hostile();
  length *= 4;
  const long = hostile();

  it.each(short)('runs in linear time for %s', (name, command) => {
    const fourfold = long.find(([one]) => one === name)?.[1] ?? '';
    // A quadratic algorithm takes 16 times as long. Short times are dominated by noise.
    expect(timeOf(fourfold)).toBeLessThan(9 * Math.max(20, timeOf(command)));
  });
});
