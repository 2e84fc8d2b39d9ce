import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandFiles } from './files.js';

const filesOf = (line: string) => commandFiles(line, { cwd: '/project', home: '/home/alice' });

describe('commandFiles', () => {
  it.each([
    ['scripts/x.sh --fast', 'scripts/x.sh'],
    ['sh -c "scripts/x.sh --fast"', 'scripts/x.sh'],
    ['cd scripts && ./x.sh', './x.sh'],
    ['$PWD/x.sh', '/project/x.sh'],
    ['python3 -u scripts/x.py "$INPUT"', 'scripts/x.py'],
    ['env A=b nice scripts/x.sh', 'scripts/x.sh'],
    ['awk -f scripts/x.awk', 'scripts/x.awk'],
    ['node --require ./a.js b.js', './a.js'],
  ])('finds the script of %j: %j', (line, script) => {
    expect(filesOf(line)).toMatchObject({ unknown: [] });
    expect(filesOf(line).scripts).toContain(script);
  });

  it.each(['scripts/*.sh', '"$X"/x.sh', 'sh "$X"', 'cat x | sh', 'python3', 'PATH=. x', 'cd "$X" && ./y', 'eval "$X"'])(
    'reports that what %j runs is unknown',
    (line) => {
      expect(filesOf(line).unknown).not.toEqual([]);
    },
  );

  it.each([
    'echo "$X"',
    'grep -q x "$FILE" && exit 2',
    'python3 -m json.tool',
    'node --version',
    'npx prettier "$FILE"',
  ])('knows what %j runs', (line) => {
    expect(filesOf(line).unknown).toEqual([]);
  });

  it.each([
    ["python3 -c 'import scripts.foo'", 'scripts/foo.py'],
    ["python3 -c 'from scripts import bar, foo'", 'scripts/foo.py'],
    ["python3 <<'E'\nimport foo\nE", 'foo.py'],
    ['python3 -m scripts.foo', 'scripts/foo.py'],
    ['uv run -m scripts.foo', 'scripts/foo.py'],
    ['coverage run -m scripts.foo', 'scripts/foo/__main__.py'],
    ['perl -I scripts -mFoo::Bar -e 1', 'Foo/Bar.pm'],
    ["perl -e 'use Foo;'", 'Foo.pm'],
    ['ruby -Ilib -rfoo -e 1', 'foo.rb'],
    ["node -e 'require(`./scripts/r`)'", './scripts/r.js'],
    ["node -p 'require(`./scripts`)'", './scripts/index.js'],
  ])('finds the files of modules that are named without them: %j: %j', (line, file) => {
    expect(filesOf(line)).toMatchObject({ unknown: [] });
    expect(filesOf(line).words).toContain(file);
  });

  it('names the folders of modules', () => {
    expect(filesOf('perl -I scripts -mFoo -e 1; ruby -Ilib:ext -rfoo -e 1').folders).toEqual([
      '/project',
      '/project/scripts',
      '/project/lib',
      '/project/ext',
    ]);
  });

  it.each([
    "perl -Mlib=scripts -e 'use Foo'",
    "perl -e 'use lib qw(a); use Foo'",
    "python3 -c 'import sys; sys.path.append(1)'",
  ])('reports that where %j finds its modules is unknown', (line) => {
    expect(filesOf(line).unknown).not.toEqual([]);
  });

  it('names the folder of each command', () => {
    expect(filesOf('cd a && ./x; (cd b; ./y)').folders).toEqual(['/project', '/project/a', '/project/a/b']);
  });

  it('accepts any text', () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (line) => Array.isArray(filesOf(line).unknown)));
  });
});
