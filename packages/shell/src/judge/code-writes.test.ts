import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { place } from '../../test/corpus.js';
import { judgeCommand } from '../index.js';

const decide = (command: string): string => judgeCommand(command, place).decision;

/** Calls that write the path TO, by the command that runs them. */
const calls: Readonly<Record<string, readonly string[]>> = {
  'python3 -c': [
    'import shutil; shutil.copy("a", "TO")',
    'from shutil import copy2 as put; put("a", "TO")',
    'import shutil as s; s.copyfile(dst="TO", src="a")',
    'import shutil; shutil.copy(source, "TO")',
    'import shutil; shutil.copytree("a", "TO", dirs_exist_ok=True)',
    'import os; os.rename("a", "TO")',
    'import os; os.replace(src="a", dst="TO")',
    'import shutil; move = shutil.move; move("a", "TO")',
    'from pathlib import Path; Path("a").rename("TO")',
    'from pathlib import Path; Path("a").replace(target="TO")',
    'from pathlib import Path; Path("TO").symlink_to("a")',
    'from pathlib import Path; Path("TO").touch()',
    'from pathlib import Path; p = Path("TO"); p.write_text("x")',
    'import os; os.link("a", "TO")',
    'import os; os.write(os.open("TO", os.O_WRONLY | os.O_CREAT), b"x")',
    'name = "TO"; open(name, "w").write("x")',
    'import tarfile; tarfile.open("a.tar").extractall(path="TO")',
    'import shutil; shutil.unpack_archive("a.zip", "TO")',
    'import os; os.chown("TO", 0, 0)',
  ],
  'node -e': [
    'const { copyFileSync: put } = require("node:fs"); put("a", "TO")',
    'require("fs").cpSync("a", "TO", { recursive: true })',
    'require("fs").linkSync("a", "TO")',
    'require("fs/promises").copyFile("a", "TO")',
    'import("fs").then((fs) => fs.renameSync("a", "TO"))',
    'const name = "TO"; require("fs").writeFileSync(name, "x")',
    'require("fs").truncateSync("TO")',
    'require("fs").copyFileSync(source, "TO")',
    'require("fs-extra").moveSync("a", "TO")',
    'require("fs-extra").outputFileSync("TO", "x")',
  ],
  'ruby -e': [
    'IO.copy_stream("a", "TO")',
    'FileUtils.install("a", "TO")',
    'FileUtils.ln_s "a", "TO", force: true',
    'FileUtils.copy_file("a", "TO")',
    'name = "TO"; File.write(name, "x")',
    'FileUtils.touch "TO"',
  ],
  'perl -e': [
    'use File::Copy; move "a", "TO"',
    'use File::Copy qw(cp); cp("a", "TO")',
    'link "a", "TO"',
    'my $name = "TO"; open(my $f, ">", $name)',
    'truncate "TO", 0',
  ],
  'php -r': ['$name = "TO"; file_put_contents($name, "x");', 'touch("TO");', 'rename("a", "TO");'],
  'lua -e': ['io.output("TO")', 'os.rename("a", "TO")'],
  'julia -e': ['cp("a", "TO"; force=true)', 'mv("a", "TO")'],
  'elixir -e': ['File.cp!("a", "TO")', 'File.rename("a", "TO")'],
  'Rscript -e': ['file.copy("a", "TO", overwrite = TRUE)', 'file.rename("a", "TO")'],
};

const lines = fc.constantFrom(
  ...Object.entries(calls).flatMap(([command, codes]) =>
    codes.map((code) => (path: string) => `${command} '${code.replaceAll('TO', path)}'`),
  ),
);

describe('judgeCommand for code that copies, moves, links or opens a file', () => {
  it('asks if the file belongs to the system, or runs automatically', () => {
    const targets = fc.constantFrom(
      '/etc/hosts',
      '/home/me/.bashrc',
      '/home/me/.ssh/authorized_keys',
      '/usr/local/bin/x',
    );
    fc.assert(
      fc.property(lines, targets, (line, path) => {
        expect(decide(line(path))).not.toBe('allow');
      }),
      { numRuns: 400 },
    );
  });

  it('allows files of the project and temporary files', () => {
    const targets = fc.constantFrom('out/hosts', './src/a.txt', '/tmp/x', '/work/app/dist/a.js');
    fc.assert(
      fc.property(lines, targets, (line, path) => {
        expect(decide(line(path))).toBe('allow');
      }),
      { numRuns: 400 },
    );
  });

  it('asks if the code moves such a file away, copies it under its own name, or opens it to everyone', () => {
    const code = [
      `python3 -c 'import os; os.replace("/home/me/.bashrc", target)'`,
      `perl -e 'chmod 0777, "/etc/hosts"'`,
      `python3 -c 'from shutil import move as put; put(src="/home/me/.ssh", dst=target)'`,
      `python3 -c 'from pathlib import Path; Path("/etc/hosts").rename("x")'`,
      `node -e 'require("fs").renameSync("/home/me/.profile", target)'`,
      `ruby -e 'File.rename("/etc/hosts", target)'`,
      `python3 -c 'import shutil; shutil.copy2("x/.bashrc", "/home/me")'`,
      `python3 -c 'import shutil, os; shutil.copy("x/.bashrc", os.path.expanduser("~"))'`,
    ];
    expect(code.filter((line) => decide(line) === 'allow')).toEqual([]);
  });

  it('follows other names of functions that delete, and of those that run programs', () => {
    const code = [
      `python3 -c 'from shutil import rmtree as r; r("/home/me/work")'`,
      `python3 -c 'import shutil as s; s.rmtree("/home/me/work")'`,
      `python3 -c 'from os import system as run; run("rm -rf /home/me")'`,
      `node -e 'const { rmSync: gone } = require("fs"); gone("/home/me/work", { recursive: true })'`,
      `node -e 'const { execSync: run } = require("child_process"); run("rm -rf /home/me")'`,
      `node --input-type=module -e 'import { rmSync as gone } from "fs"; gone("/home/me", { recursive: true })'`,
      `python3 -c 'import shutil; folder = "/home/me"; shutil.rmtree(folder)'`,
    ];
    expect(code.filter((line) => decide(line) === 'allow')).toEqual([]);
  });

  it('does not trust a name that a comment gives', () => {
    for (const [program, code] of [
      ['python3', "from shutil import rmtree\n# import safe as rmtree\nrmtree('/')"],
      ['python3', "from os import system\n# from x import safe as system\nsystem('rm -rf /')"],
      [
        'node',
        "/* const {ok: rmSync} = require('x') */ const {rmSync} = require('fs'); rmSync('/', {recursive: true})",
      ],
    ] as const) {
      expect(decide(`${program} - <<'E'\n${code}\nE`), code).toBe('deny');
    }
  });

  it('allows texts with the same names, and reading', () => {
    const code = [
      `python3 -c 'print("a".replace("/etc/hosts", "/etc/x"))'`,
      `python3 -c 'print("os.replace(\\"a\\", \\"/etc/hosts\\")")'`,
      `python3 -c 'import shutil; shutil.copy("/etc/hosts", "out/hosts")'`,
      `python3 -c 'import pandas as pd; print(pd.read_csv("data/a.csv").rename(columns={"a": "/b"}))'`,
      `python3 -c 'name = "/etc/hosts"; print(open(name).read())'`,
      `python3 -c 'from PIL import Image as I; I.open("a.png").copy().save("out/a.png")'`,
      `node -e 'const { version: v } = require("./package.json"); console.log(v)'`,
      `node -e 'const s = require("fs").readFileSync("/etc/hosts", "utf8"); console.log(s.replace("/etc", "/x"))'`,
      `node -e 'const home = "/home/me"; console.log(home.length)'`,
      `node -e 'location.replace("/home/me")'`,
      `ruby -e 'puts "x".sub("/etc/hosts", "/etc/x")'`,
      `perl -pe 's{/etc/hosts}{/etc/x}' a.txt`,
    ];
    expect(code.filter((line) => decide(line) !== 'allow')).toEqual([]);
  });
});
