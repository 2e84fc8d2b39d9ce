import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { place } from '../../test/corpus.js';
import { judgeCommand } from '../index.js';

const decide = (command: string): string => judgeCommand(command, place).decision;

const system = fc.constantFrom(
  '/etc/hosts',
  '/usr/local/bin/node',
  '/usr/lib/x',
  '~/.bashrc',
  '~/.ssh/authorized_keys',
);
const own = fc.constantFrom('out', 'src/hosts', '/tmp/hosts', '/work/app/dist/x');

/** Ways in which a program writes a path, other than a redirection. */
const writes = fc.constantFrom<(path: string) => string>(
  (path) => `zqtool build -o ${path}`,
  (path) => `zqtool build --output=${path.replace('~', '/home/me')}`,
  (path) => `zqtool build --out-dir ${path}`,
  (path) => `gcc x.c -o ${path}`,
  (path) => `go build -o ${path} .`,
  (path) => `curl -so ${path} https://example.com/x`,
  (path) => `openssl req -new -out ${path}`,
  (path) => `pip install --target ${path} x`,
  (path) => `cp x ${path}`,
  (path) => `cp -t ${path} x`,
  (path) => `mv a b ${path}`,
  (path) => `install -m 755 x ${path}`,
  (path) => `ln -sf x ${path}`,
  (path) => `rsync -a x ${path}`,
  (path) => `convert a.png ${path}`,
  (path) => `uniq a ${path}`,
  (path) => `tee -a ${path} < x`,
  (path) => `touch ${path}`,
  (path) => `script -c ls ${path}`,
  (path) => `screen -L -Logfile ${path}`,
  (path) => `dd if=x of=${path}`,
  (path) => `patch ${path} < x.patch`,
  (path) => `patch -d ${path} < x.patch`,
  (path) => `sed -i s/a/b/ ${path}`,
  (path) => `perl -pi -e s/a/b/ ${path}`,
  (path) => `yq -i .a=1 ${path}`,
  (path) => `vim ${path}`,
  (path) => `vim -es -c "w! ${path}" -c q x`,
  (path) => `python3 -c "open('${path}', 'w').write('x')"`,
  (path) => `tar -xf x.tar -C ${path}`,
  (path) => `unzip x.zip -d ${path}`,
  (path) => `git worktree add ${path}`,
  (path) => `git apply --directory=${path.replace('~', '/home/me')} x.patch`,
);

describe('judgeCommand for files that a program writes', () => {
  it('asks before any program writes a file of the system or of the shell', () => {
    fc.assert(
      fc.property(system, writes, (path, write) => {
        expect(decide(write(path))).not.toBe('allow');
      }),
      { numRuns: 300 },
    );
  });

  it('allows the same in the project and in temporary folders', () => {
    fc.assert(
      fc.property(own, writes, (path, write) => {
        expect(decide(write(path))).toBe('allow');
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    'scp x host:/etc/cron.d/x',
    'rsync x root@host:/usr/bin/',
    `emacs --batch --eval '(delete-directory "~" t)'`,
    `Rscript -e 'unlink("~", recursive=TRUE)'`,
  ])('asks about %s', (command) => {
    expect(decide(command)).not.toBe('allow');
  });

  it.each([
    'scp x host:/var/www/app/',
    'grep -o x /etc/hosts',
    'tar -cf x.tar -C /etc nginx',
    'git -C /etc status',
    'zqtool build --output-dir ../..',
    'rsync -a --dry-run x host:/etc/',
    'cp /etc/hosts hosts',
    'patch -p1 < x.patch',
    'ls -o /etc',
  ])('allows %s', (command) => {
    expect(decide(command)).toBe('allow');
  });
});
