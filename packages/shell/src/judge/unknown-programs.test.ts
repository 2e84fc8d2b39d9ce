import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { place } from '../../test/corpus.js';
import { judgeCommand, type CommandDecision } from '../index.js';

const decide = (command: string): CommandDecision => judgeCommand(command, place).decision;

/** Names that no list contains. */
const unknownName = fc.stringMatching(/^zq[a-z]{3,8}$/);

describe('the words of unknown programs', () => {
  const deleting = fc.constantFrom(
    'delete',
    'destroy',
    'terminate',
    'purge',
    'wipe',
    'DeleteInstance',
    'TerminateInstances',
    'bulk-delete',
    'snapshot-delete',
    'sites:delete',
    'api:core:numbers:remove',
    'remove-secret',
    'delete_queue',
    'deletetable',
    'stopall',
    'failover',
    'hardreset',
    '-delete',
    '-deleteUser',
  );

  it('asks about a verb that deletes, at any place of the subcommand', () => {
    const kinds = fc.array(fc.constantFrom('app', 'cluster', 'topics', 'env', 'instances'), { maxLength: 3 });
    fc.assert(
      fc.property(unknownName, kinds, deleting, (name, words, verb) => {
        expect(decide([name, ...words, verb, 'x1'].join(' '))).toBe('ask');
      }),
    );
  });

  it('asks about a weaker verb together with a shared resource, or with force', () => {
    const weak = fc.constantFrom('remove', 'rm', 'reset', 'revoke', 'disable', 'clear');
    const how = fc.constantFrom<(verb: string) => string>(
      (verb) => `cluster ${verb} x`,
      (verb) => `${verb} secrets x`,
      (verb) => `${verb} x --force`,
      (verb) => `${verb} --yes x`,
      (verb) => `${verb} --all`,
    );
    fc.assert(
      fc.property(unknownName, weak, how, (name, verb, line) => {
        expect(decide(`${name} ${line(verb)}`)).toBe('ask');
      }),
    );
  });

  it.each([
    'zqtool list deleted',
    'zqtool get delete-marker',
    'zqtool describe drop-box',
    'zqtool create delete-hook',
    'zqtool logs purge-job',
    'zqtool remove x',
    'zqtool reset',
    'zqtool deleted dropdown',
    'zqtool -dropbox -clear',
    'zqtool cache clear-all',
    'convert a.png -delete 0 b.png',
    'dbus-send --print-reply x',
    'zqtool cache clear --all',
    'zqtool delete x --dry-run',
    'zqtool delete --help',
    'zqtool ./delete x',
    './zqtool delete x',
    'scripts/zqtool.sh destroy',
    'zqtool.py delete x',
    'npm run delete',
    'make purge',
    'just destroy',
    'echo delete everything',
    'grep delete file',
    'mkdir delete',
    'jira issue create -s "Please delete old users"',
    'codex exec "remove dead code"',
  ])('allows %s', (command) => {
    expect(decide(command)).toBe('allow');
  });
});

describe('messages and money', () => {
  it.each([
    'zqtool mail send --to a@example.com',
    'zqtool sendtoaddress x 0.5',
    'zqtool transfer x 10',
    'telegram-send done',
    'slackcat -c general x.txt',
    'jira issue delete ABC-1',
  ])('asks about %s', (command) => {
    expect(decide(command)).toBe('ask');
  });
});

describe('what unknown programs may run', () => {
  const command = fc.constantFrom('rm -rf /etc', 'git push --force', 'dd if=/dev/zero of=/dev/sda');
  const wrapped = fc.constantFrom<(command: string) => string>(
    (line) => `-- ${line}`,
    (line) => `run -- ${line}`,
    (line) => `exec 18 ${line}`,
    (line) => `-x ${line}`,
    (line) => `-e '${line}'`,
    (line) => `--command='${line}'`,
    (line) => `web '${line}'`,
    (line) => `-f x '!${line}'`,
    (line) => `--eval '(system "${line}")'`,
    (line) => `'["${line}"]'`,
    (line) => `<<< '!${line}'`,
    (line) => `shell <<< '${line}'`,
  );

  it('judges a command behind any option, and within any string', () => {
    fc.assert(
      fc.property(unknownName, wrapped, command, (name, wrap, line) => {
        expect(decide(`${name} ${wrap(line)}`)).toBe('deny');
      }),
    );
  });

  it.each([
    'which rm',
    'man rm',
    'brew install git',
    'zqtool notify "shutdown hooks leak"',
    'zqtool --title "format the disk first"',
    'zqtool -c config.toml -e production',
    'zqtool run build',
    'zqtool -- --watch',
    'gh pr create --title "git push --force is denied"',
    'claude -p "rm -rf / explained"',
  ])('allows %s', (line) => {
    expect(decide(line)).toBe('allow');
  });

  it.each([
    `awk 'BEGIN {system("/bin/sh")}'`,
    `vim -c ':!/bin/bash'`,
    'find . -exec /bin/sh \\;',
    `tar cf x y --checkpoint-action=exec=/bin/sh --checkpoint=1`,
    `perl -e 'exec "/bin/sh";'`,
    'sudo env /bin/sh',
    'sudo -u root bash',
    'nsenter -t 1 -a',
  ])('asks about a shell from another program: %s', (line) => {
    expect(decide(line)).toBe('ask');
  });

  it.each(['docker exec -it web sh', 'ssh host bash', 'tmux new bash', 'poetry run bash', 'nix-shell --run zsh'])(
    'allows a session: %s',
    (line) => {
      expect(decide(line)).toBe('allow');
    },
  );
});

describe('variables that name code', () => {
  it.each([
    ['LD_PRELOAD=/tmp/x.so ls', 'ask'],
    ['export LD_PRELOAD=/tmp/x.so', 'ask'],
    ['env LD_PRELOAD=/tmp/x.so ls', 'ask'],
    ["NODE_OPTIONS='--require /tmp/x.js' npm test", 'ask'],
    ["NODE_OPTIONS='--import data:text/javascript,1' node a.js", 'ask'],
    ['GIT_SSL_NO_VERIFY=1 git fetch', 'ask'],
    ['HISTFILE=/dev/null bash', 'ask'],
    ["TAR_OPTIONS='--checkpoint=1 --checkpoint-action=exec=sh' tar cf a b", 'ask'],
    ["CC='rm -rf /etc;' make", 'deny'],
    ["make SHELL='rm -rf /etc'", 'deny'],
    ['LD_LIBRARY_PATH=./build/lib ./a.out', 'allow'],
    ["NODE_OPTIONS='--require ./setup.js' npm test", 'allow'],
    ['CC=clang make', 'allow'],
    ['make SHELL=/bin/bash test', 'allow'],
    ["LESSOPEN='|lesspipe %s' less a", 'allow'],
  ] as const)('%s: %s', (line, decision) => {
    expect(decide(line)).toBe(decision);
  });
});

describe('words that a shell joins or passes on', () => {
  it.each([
    ['f() { bash -c "$*"; }; f git push --force', 'deny'],
    ['f() { bash -c "$@"; }; f "git push --force"', 'deny'],
    ['f() { printf "%s\\n" "$*"; }; f git push --force', 'allow'],
    ["alias x='git add . && git push -f'\nx", 'deny'],
    ["alias gs='git status && git log -1'; gs", 'allow'],
    ["make -f <(printf 'a:\\n\\trm -rf /etc\\n')", 'deny'],
    ["vim -S <(echo '!rm -rf /etc')", 'deny'],
    ['docker run --entrypoint rm -v /etc:/etc alpine -rf /etc', 'deny'],
    ['cp /bin/rm ./x && ./x -rf /etc', 'deny'],
    ["printf '\\162\\155\\40-rf\\40/etc' | sh", 'deny'],
    ['lerna exec -- rm -rf /etc', 'deny'],
    ['ls *.tmp | xargs rm', 'allow'],
    ['RAILS_ENV=test rails db:drop', 'allow'],
    ['RAILS_ENV=production rails db:migrate', 'ask'],
  ] as const)('%s: %s', (line, decision) => {
    expect(decide(line)).toBe(decision);
  });
});

describe('code of other languages', () => {
  it.each([
    [`python3 -c "exec('import os; os.remove(\\'/etc/passwd\\')')"`, 'ask'],
    [`python3 -c "import os; os.rename('/etc/passwd','/tmp/x')"`, 'ask'],
    [`python3 -c "import os; os.chmod('/etc/shadow',0o777)"`, 'ask'],
    [`python3 -c "import glob,os; [os.remove(f) for f in glob.glob('/etc/*')]"`, 'deny'],
    [`python3 -c "import sqlite3; sqlite3.connect('a').execute('DROP TABLE t')"`, 'ask'],
    [`rails runner 'User.delete_all'`, 'ask'],
    [`python manage.py shell -c 'User.objects.all().delete()'`, 'ask'],
    [`python3 -c "import requests; requests.delete('https://api.example.com/x')"`, 'ask'],
    [`python3 -m pip install https://x.example/x.whl`, 'ask'],
    [`perl -e 'exec qw(rm -rf /etc)'`, 'deny'],
    [`awk 'BEGIN{"rm -rf /etc" | getline}'`, 'deny'],
    [`sed 's/^/rm -rf /e' list`, 'ask'],
    [`elixir -e 'System.cmd("rm", ["-rf", "/etc"])'`, 'deny'],
    [`node --input-type=module <<'E'\nawait rm(homedir(), { recursive: true });\nE`, 'deny'],
    [`python3 -c "import shutil; shutil.rmtree(os.path.join(os.path.expanduser('~'), '.ssh'))"`, 'deny'],
    [`python3 -c "shutil.rmtree(Path.home() / 'Documents')"`, 'ask'],
    [`cat > x.py <<'E'\nsubprocess.run(sys.argv[1:])\nE\npython3 x.py rm -rf /etc`, 'deny'],
    [`python3 - "rm -rf /etc" <<'E'\nos.system(sys.argv[1])\nE`, 'deny'],
    [`perl -e "open(F, '-|', 'rm -rf /etc')"`, 'deny'],
    ["bun -e 'await Bun.$`rm -rf /etc`'", 'deny'],
    ["cat > x.mjs <<'E'\nconst x = 1; await $`rm -rf /etc`;\nE\nnpx zx x.mjs", 'deny'],
    [`printf 'x:\\n\\t@sudo rm -rf /etc\\n' > Makefile; make x`, 'deny'],
    [`printf 'tasks:\\n  x:\\n    cmds:\\n      - killall node\\n' > Taskfile.yml; task x`, 'ask'],
    [`echo '{"scripts":{"postx":"killall node"}}' > package.json; pnpm x`, 'ask'],
    [`echo 'rm -rf /etc' > make; ./make`, 'deny'],
    [`echo '{"scripts":{"x":"ls","stop":"killall node"}}' > package.json; pnpm x`, 'allow'],
    [`python3 -c "import shutil; shutil.rmtree(os.path.join('build', 'tmp'))"`, 'allow'],
    ["node -e 'const f = 1; fs.writeFileSync(`src/${f}`, x)'", 'allow'],
    [`python3 -c "import sys; print(sys.argv)" rm -rf dist`, 'allow'],
    [`python3 -c "import glob,os; [os.remove(f) for f in glob.glob('*.tmp')]"`, 'allow'],
    [`python3 -c "import os; os.rename('a.txt','b.txt')"`, 'allow'],
    [`python3 -c "sql='DELETE FROM users'; print(sql)"`, 'allow'],
    [`rails runner 'User.where(id: 1).delete_all'`, 'allow'],
    [`python3 -c "import json,sys; json.load(sys.stdin)" < a.json`, 'allow'],
    [`node -e "fetch('http://localhost:3000/x',{method:'DELETE'})"`, 'allow'],
  ] as const)('%s: %s', (line, decision) => {
    expect(decide(line)).toBe(decision);
  });
});

describe('what never ends', () => {
  it.each([
    ['while true; do bash & done', 'deny'],
    ['while :; do echo x >> log; done', 'deny'],
    ['while true; do (sleep 1000 &); done', 'deny'],
    ["perl -e 'fork while fork'", 'deny'],
    ['yes > big', 'ask'],
    ['cat /dev/urandom | gzip > x.gz', 'ask'],
    ['dd if=/dev/zero of=fill', 'ask'],
    ['while true; do npm test; sleep 10; done', 'allow'],
    ['while true; do curl -s localhost:3000 >> log || break; done', 'allow'],
    ['while :; do read -r l || break; echo "$l" >> log; done', 'allow'],
    ['yes | head -100 > sample', 'allow'],
    ['cat /dev/urandom | head -c 32 > key', 'allow'],
    ['dd if=/dev/zero of=fill bs=1M count=10', 'allow'],
    ['for f in *; do gzip "$f" & done; wait', 'allow'],
  ] as const)('%s: %s', (line, decision) => {
    expect(decide(line)).toBe(decision);
  });
});
