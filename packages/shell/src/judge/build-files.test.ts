import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { place } from '../../test/corpus.js';
import { judgeCommand } from '../index.js';

const decide = (command: string): string => judgeCommand(command, place).decision;

/** A file, the commands that run it without naming it, and its content around a path that it deletes. */
const builds: readonly (readonly [file: string, commands: readonly string[], content: (path: string) => string])[] = [
  ['build.gradle', ['gradle x', './gradlew x'], (path) => `task x { doLast { delete '${path}' } }`],
  ['build.gradle.kts', ['./gradlew x'], (path) => `tasks.register("x") { File("${path}").deleteRecursively() }`],
  ['build.xml', ['ant x'], (path) => `<target name="x"><delete dir="${path}"/></target>`],
  ['CMakeLists.txt', ['cmake -B build'], (path) => `file(REMOVE_RECURSE ${path})`],
  ['meson.build', ['meson setup b'], (path) => `run_command('rm', '-rf', '${path}')`],
  ['Rakefile', ['rake x', 'bundle exec rake'], (path) => `task(:x) { FileUtils.rm_rf "${path}" }`],
  ['Gemfile', ['bundle install'], (path) => `system("rm -rf ${path}")`],
  ['mix.exs', ['mix test'], (path) => `File.rm_rf!("${path}")`],
  ['docs/conf.py', ['sphinx-build docs out'], (path) => `shutil.rmtree("${path}")`],
  ['.github/workflows/a.yml', ['act'], (path) => `jobs:\n  a:\n    steps:\n      - run: rm -rf ${path}`],
  ['x.awk', ['awk -f x.awk a.txt'], (path) => `BEGIN { system("rm -rf ${path}") }`],
  ['conftest.py', ['pytest', 'python3 -m pytest -q'], (path) => `import shutil; shutil.rmtree("${path}")`],
  ['setup.py', ['pip install .', 'uv pip install -e .'], (path) => `import os; os.system("rm -rf ${path}")`],
  ['tests/test_a.py', ['pytest tests/test_a.py'], (path) => `def test_a(): shutil.rmtree("${path}")`],
  ['a.test.js', ['npx vitest run', 'node --test', 'npm test'], (path) => `fs.rmSync("${path}", { recursive: true })`],
  ['vite.config.js', ['npx vite build'], (path) => `fs.rmSync("${path}", { recursive: true })`],
  ['build.rs', ['cargo build'], (path) => `fn main() { std::fs::remove_dir_all("${path}"); }`],
  ['a_test.go', ['go test ./...'], (path) => `func TestA(t *testing.T) { os.RemoveAll("${path}") }`],
  ['Procfile', ['foreman start', 'heroku local'], (path) => `web: rm -rf ${path}`],
  ['lefthook.yml', ['lefthook run x'], (path) => `x:\n  commands:\n    a:\n      run: rm -rf ${path}`],
  ['tox.ini', ['tox'], (path) => `[testenv]\ncommands = rm -rf ${path}`],
  ['site.yml', ['ansible-playbook site.yml'], (path) => `- file: {path: ${path}, state: absent}`],
  ['GNUmakefile', ['make x'], (path) => `x:\n\trm -rf ${path}`],
  ['.envrc', ['direnv allow'], (path) => `rm -rf ${path}`],
  ['x.m4', ['m4 x.m4'], (path) => `syscmd(rm -rf ${path})`],
  ['x.gdb', ['gdb -x x.gdb a'], (path) => `shell rm -rf ${path}`],
  ['x.tcl', ['tclsh x.tcl'], (path) => `file delete -force ${path}`],
];

const build = fc.constantFrom(...builds).chain(([file, commands, content]) =>
  fc.constantFrom(...commands).map(
    (command) =>
      (path: string, run: string = command): string =>
        `cat > ${file} <<'END'; ${run}\n${content(path)}\nEND`,
  ),
);
const other = fc.constantFrom('/srv/data', '/var/lib/app', '~/work', '/home/other/x');
const own = fc.constantFrom('build', 'dist/a', 'out.txt', '/tmp/x/y');

describe('files that a program finds by their names', () => {
  it('are judged by what they do, if the line has written them', () => {
    fc.assert(
      fc.property(build, other, (line, path) => {
        expect(decide(line(path))).not.toBe('allow');
      }),
    );
  });

  it('may delete files of the project, and are ignored by other programs', () => {
    fc.assert(
      fc.property(build, own, other, (line, inside, outside) => {
        expect(decide(line(inside))).toBe('allow');
        expect(decide(line(outside, 'cat README.md'))).toBe('allow');
      }),
    );
  });

  it('may be tests that delete folders of their own, and mention commands', () => {
    const lines = [
      `cat > a.test.ts <<'E'; npx vitest run a.test.ts\nafterEach(() => rmSync(folder, { recursive: true }))\nE`,
      `cat > a.test.ts <<'E'; npx vitest run a.test.ts\nit('denies', () => expect(judge('rm -rf /')).toBe('deny'))\nE`,
      `cat > tests/test_a.py <<'E'; pytest -q\ndef test_a(tmp_path):\n  shutil.rmtree(tmp_path)\nE`,
    ];
    expect(lines.filter((line) => decide(line) !== 'allow')).toEqual([]);
  });
});
