import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { place } from '../../test/corpus.js';
import { judgeCommand } from '../index.js';

const wrong = (lines: readonly string[], isAllowed: boolean): readonly string[] =>
  lines.filter((line) => (judgeCommand(line, place).decision === 'allow') !== isAllowed);

/** Assignments by which programs load code from a folder. */
const loading = fc.constantFrom<(folder: string) => string>(
  (folder) => `PERL5OPT='-I${folder} -MEvil'`,
  (folder) => `PERL5OPT='-Mlib=${folder} -MEvil'`,
  (folder) => `_JAVA_OPTIONS='-Xmx1g -javaagent:${folder}/x.jar'`,
  (folder) => `MAVEN_OPTS=-javaagent:${folder}/x.jar`,
  (folder) => `DOTNET_STARTUP_HOOKS=${folder}/x.dll`,
  (folder) => `ZDOTDIR=${folder}`,
  (folder) => `PYTHONHOME=${folder}`,
  (folder) => `PHP_INI_SCAN_DIR=${folder}`,
  (folder) => `LUA_PATH='${folder}/?.lua'`,
  (folder) => `R_PROFILE_USER=${folder}/x.R`,
  (folder) => `RUSTFLAGS='-C linker=${folder}/x'`,
  (folder) => `GOFLAGS=-toolexec=${folder}/x`,
  (folder) => `MAKEFILES=${folder}/x.mk`,
);

/** Assignments of commands that programs run. */
const running = fc.constantFrom<(command: string) => string>(
  (command) => `HGEDITOR='${command}'`,
  (command) => `BORG_PASSCOMMAND='${command}'`,
  (command) => `CARGO_TARGET_X_RUNNER='${command}'`,
  (command) => `VIMINIT='!${command}'`,
  (command) => `LUA_INIT='os.execute("${command}")'`,
  (command) => `PERL5DB='BEGIN{system("${command}")}'`,
  (command) => `ERL_FLAGS='-eval os:cmd("${command}")'`,
  (command) => `FZF_DEFAULT_OPTS="--preview '${command}'"`,
  (command) => `GNUMAKEFLAGS='--eval=$(shell ${command})'`,
);
const behind = fc.constantFrom('%', 'export %;', 'env %');

describe('variables that load code', () => {
  it('ask if it is in a folder for temporary files', () => {
    const folder = fc.constantFrom('/tmp', '/tmp/x', '/var/tmp', '/var/tmp/a');
    fc.assert(
      fc.property(loading, folder, behind, (set, where, how) => {
        expect(wrong([`${how.replace('%', () => set(where))} app`], false)).toEqual([]);
        expect(wrong([`${how.replace('%', () => set('./lib'))} app`], true)).toEqual([]);
      }),
    );
  });

  it('ask about the command that they run', () => {
    fc.assert(
      fc.property(running, fc.constantFrom('%', 'export %;'), (set, how) => {
        expect(wrong([`${how.replace('%', () => set('rm -rf /srv/data'))} app`], false)).toEqual([]);
        expect(wrong([`${how.replace('%', () => set('ls -l src'))} app`], true)).toEqual([]);
      }),
    );
  });

  it('allow options for memory, caches and reports', () => {
    expect(
      wrong(
        [
          `MAVEN_OPTS='-Xmx2g -XX:HeapDumpPath=/tmp/dump' mvn test`,
          'JAVA_TOOL_OPTIONS=-Djava.io.tmpdir=/tmp/x mvn test',
          'PYTEST_ADDOPTS=--basetemp=/tmp/pt pytest',
          'NODE_OPTIONS=--diagnostic-dir=/tmp node a.js',
          'PERL5OPT=-MDevel::Cover prove -l',
          'CARGO_HOME=/tmp/cargo cargo build',
          'RUSTC_WRAPPER=sccache cargo build',
          'OPENSSL_CONF=/dev/null curl https://x.io',
        ],
        true,
      ),
    ).toEqual([]);
  });
});

describe('properties of a virtual machine', () => {
  it('asks about files with configuration or code', () => {
    const names =
      'log4j.configurationFile logback.configurationFile java.util.logging.config.file catalog.classes'.split(' ');
    expect(
      wrong(
        names.map((name) => `JAVA_TOOL_OPTIONS=-D${name}=/tmp/x java -jar a.jar`),
        false,
      ),
    ).toEqual([]);
  });

  it('allows folders for temporary files, caches and logs', () => {
    const names = 'java.io.tmpdir jna.tmpdir app.cache.dir log.path app.logs maven.repo.local'.split(' ');
    expect(
      wrong(
        names.map((name) => `JAVA_TOOL_OPTIONS=-D${name}=/tmp/x java -jar a.jar`),
        true,
      ),
    ).toEqual([]);
  });
});

describe('files of scripts among many arguments', () => {
  it('are read in linear time', () => {
    const line = `cat > x <<'E'\n${'a\n'.repeat(25_000)}E\nsed ${'x '.repeat(25_000)}`;
    const start = performance.now();
    judgeCommand(line, place);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

describe('files of sed', () => {
  const write = "cat > x <<'E'\ne rm -rf ~\nE\n";

  it('are judged as scripts behind an option only', () => {
    expect(wrong([`${write}sed -n 1,5p x`, `${write}sed -i s/a/b/ x`], true)).toEqual([]);
    expect(wrong([`${write}sed -f x y`, `${write}sed -nf x y`, `${write}sed --file x y`], false)).toEqual([]);
  });
});

describe('reads of mail', () => {
  it('are allowed', () => {
    expect(wrong(['git send-email --dry-run *.patch', 'exim -d -bt joe@example.com'], true)).toEqual([]);
    expect(wrong(['git send-email *.patch', 'exim -Mrm 1a', 'postsuper -d ALL'], false)).toEqual([]);
  });
});
