import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { place } from '../../test/corpus.js';
import { judgeCommand } from '../index.js';

const decide = (command: string): string => judgeCommand(command, place).decision;

/** Lines of programs that run a command from an option, an argument or their input. */
const running: readonly ((command: string) => string)[] = [
  (command) => `podman unshare ${command}`,
  (command) => `buildah run container ${command}`,
  (command) => `pdm run ${command}`,
  (command) => `bun exec '${command}'`,
  (command) => `meson devenv -C build ${command}`,
  (command) => `ctest --test-command ${command}`,
  (command) => `cargo watch -- ${command}`,
  (command) => `pm2 start '${command}'`,
  (command) => `start-stop-daemon --start --exec /bin/${command.replace(' ', ' -- ')}`,
  (command) => `bazel run @npm//${command.replace(' ', ' -- ')}`,
  (command) => `fzf --preview '${command}'`,
  (command) => `fzf --bind 'enter:execute(${command})'`,
  (command) => `rg --pre '${command}' x`,
  (command) => `bat --pager '${command}' x`,
  (command) => `dpkg -i --pre-invoke='${command}' x.deb`,
  (command) => `apt-get -o DPkg::Pre-Invoke::='${command}' install x`,
  (command) => `bazel run //tools:x --run_under='${command}'`,
  (command) => `gradle x -PexecCmd='${command}'`,
  (command) => `hg --config alias.x='!${command}' x`,
  (command) => `gh alias set x '!${command}'`,
  (command) => `rpm --eval '%(${command})'`,
  (command) => `tar cf a.tar --new-volume-script='${command}' .`,
  (command) => `man -H'${command}' ls`,
  (command) => `lldb -o 'platform shell ${command}'`,
  (command) => `kak -e 'nop %sh{${command}}'`,
  (command) => `m4 <<< 'syscmd(${command})'`,
  (command) => `ocaml -e 'Sys.command "${command}"'`,
  (command) => `nim --eval:'discard execShellCmd("${command}")'`,
];

describe('a command in the words of another program', () => {
  it('is judged like the command itself', () => {
    const dangerous = fc.constantFrom('rm -rf /srv/data', 'chmod -R 777 /srv', 'shred -u /srv/data/a');
    fc.assert(
      fc.property(fc.constantFrom(...running), dangerous, (line, command) => {
        expect(decide(line(command))).not.toBe('allow');
      }),
    );
  });

  it('is allowed if it is harmless', () => {
    const harmless = fc.constantFrom('ls -l', 'cat README.md', 'rm -rf dist', 'grep -rn delete src');
    fc.assert(
      fc.property(fc.constantFrom(...running), harmless, (line, command) => {
        expect(decide(line(command))).toBe('allow');
      }),
    );
  });

  it('is found in code of rare languages', () => {
    const lines = [
      `nim --eval:'import os; removeDir("/srv/data")'`,
      `erl -noshell -eval 'file:del_dir_r("/srv/data"), halt().'`,
      `scala -e 'import sys.process._; "rm -rf /srv/data".!'`,
      `clojure -e '(clojure.java.shell/sh "rm" "-rf" "/srv/data")'`,
      `janet -e '(os/execute ["rm" "-rf" "/srv/data"] :p)'`,
      `dotnet script eval 'System.IO.Directory.Delete("/srv/data", true)'`,
      `dotnet fsi <<< 'System.IO.Directory.Delete("/srv/data", true)'`,
      `nvim -l - <<< 'vim.fn.delete("/srv/data", "rf")'`,
      'deno run -A npm:rimraf /srv/data',
    ];
    expect(lines.filter((line) => decide(line) === 'allow')).toEqual([]);
  });
});
