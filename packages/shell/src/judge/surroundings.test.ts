import { describe, expect, it } from 'vitest';
import { place } from '../../test/corpus.js';
import { mentions, quoted, runByPrograms, runByShells, type Surrounding } from '../../test/surroundings.js';
import { judgeCommand } from '../index.js';

const decide = (command: string): string => judgeCommand(command, place).decision;

/** Commands that are dangerous on any machine, with their quotes and without. */
const dangerous = [
  'git push --force',
  'git reset --hard HEAD~3',
  'rm -rf /',
  'dropdb production',
  `psql -c 'DROP TABLE users'`,
  `psql -c "DROP SCHEMA public CASCADE"`,
  'docker system prune -af --volumes',
  'docker exec -it db dropdb app',
  'kubectl delete namespace production',
  'terraform destroy -auto-approve',
  'bundle exec rake db:reset',
  'shutdown -h now',
  'npm unpublish x',
];

/** Everyday commands that are harmless on any machine. */
const harmless = [
  'npm test',
  'eslint . --fix --concurrency auto',
  'git commit -m "delete the old user"',
  `grep -n 'git push --force' docs/a.md`,
  'find . -name "*.log" -newer a.txt',
  `sed -n '1,5p' src/a.ts`,
  'docker exec -i api ls',
  'sh scripts/build.sh',
  'kubectl get pods -n dev',
  'git restore src/a.ts',
  'prettier --check src/**/*.ts',
  'cat -- ./-x.txt',
  'rsync -a --delete --dry-run dist/ out/',
  'npm cache clean --force',
];

const wrong = (
  surroundings: readonly Surrounding[],
  commands: readonly string[],
  isRight: (decision: string) => boolean,
): readonly string[] =>
  surroundings.flatMap((surround) => commands.map(surround).filter((line) => !isRight(decide(line))));

describe('what surrounds a command', () => {
  const running = [...runByShells, ...runByPrograms];

  it('hides no dangerous command that it runs', () => {
    expect(wrong(running, dangerous, (decision) => decision !== 'allow')).toEqual([]);
  });

  it('weakens no denial', () => {
    const denied = dangerous.filter((command) => decide(command) === 'deny');
    expect(wrong(running, denied, (decision) => decision === 'deny')).toEqual([]);
  });

  it('hides no command of an unknown program, and no text that is unknown, from the program that runs it', () => {
    const lines = ['zqtool apps:destroy x', 'echo "$CODE" | bash'];
    const certain: readonly Surrounding[] = [
      (line) => `python3 -c ${quoted(`import subprocess; subprocess.run(${JSON.stringify(line)}, shell=True)`)}`,
      (line) => `node -e ${quoted(`require("child_process").execSync(${JSON.stringify(line)})`)}`,
      (line) => `vim -c ${quoted(`!${line}`)}`,
      (line) => `parallel ::: ${quoted(line)}`,
      (line) => `echo ${quoted(JSON.stringify({ scripts: { clean: line } }))} > package.json; npm run clean`,
    ];
    expect(wrong(certain, lines, (decision) => decision === 'ask')).toEqual([]);
  });

  it('raises no false alarm for a harmless command that it runs', () => {
    expect(wrong(running, harmless, (decision) => decision === 'allow')).toEqual([]);
  });

  it('raises no false alarm for any command that it mentions', () => {
    const commands = [...dangerous, ...harmless, 'less ./config/.env.production', 'git add -f a/credentials.json'];
    expect(wrong(mentions, commands, (decision) => decision === 'allow')).toEqual([]);
  });

  it('raises no false alarm for a mention that it runs', () => {
    const mentioned = mentions.map((mention) => mention('git push --force')).filter((line) => !/^#|<<|`/.test(line));
    expect(wrong(runByShells, mentioned, (decision) => decision === 'allow')).toEqual([]);
  });

  it('finds a command that a text runs by substitution', () => {
    const texts = ['echo "x $(git push --force)"', 'git commit -m "x `git push --force`"'];
    expect(wrong(runByShells, texts, (decision) => decision === 'deny')).toEqual([]);
  });
});
