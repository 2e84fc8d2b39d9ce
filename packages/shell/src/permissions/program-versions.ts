import { each, problemAt, type Check } from './option-grammar.js';

/** Accepts one word with which a program prints its version or its help. */
const only =
  (words: RegExp): Check =>
  (args) =>
    args.length === 1 && words.test(args[0]?.value ?? '')
      ? undefined
      : problemAt(args, args.length > 0 ? 0 : -1, 'is not known to be read-only');

/**
 * Accepts `--version`, `--help` and short forms of them. Other forms depend on the program: `make version` runs a target,
 * `node version` a script, `vim -v` and `mysql -v` commands of the input, `pytest -v` tests.
 */
export const prints = only(/^(?:--version|--help|-[Vh])$/);

const withLowerCase = only(/^(?:--version|--help|-[Vvh])$/);
const withWord = only(/^(?:version|--version|--help|-[Vvh])$/);
const withOneDash = only(/^(?:--?version|--help|-h)$/);

/** Accepts the same, and `version` as a subcommand. */
export const orVersion =
  (check: Check): Check =>
  (args) =>
    withWord(args) === undefined ? undefined : check(args);

/** Accepts the version of a program whose operands are files, addresses or databases. */
export const orPrints =
  (check: Check): Check =>
  (args) =>
    prints(args) === undefined ? undefined : check(args);

/** Programs of which only the version and the help are read. */
export const versions: Readonly<Record<string, Check>> = {
  ...each(
    'deno cmake ninja poetry black mypy prettier python python3 python2 mysql swift elixir ghc code wget ssh rsync unrar protoc pandoc tesseract dot nix gpg tcpdump ld screen htop caddy ansible hyperfine ctags delta rustup pre-commit',
    prints,
  ),
  ...each(
    'node npx pnpm yarn bun ruby perl make tsc tsx bundle eslint lua zip mvn gradle nginx apache2 httpd',
    withLowerCase,
  ),
  ...each('cargo uv ruff vault consul packer', withWord),
  ...each('java javac kotlin scala ffmpeg convert', withOneDash),
  // Settings of the installation.
  ...each(
    'gcc g++ clang clang++ cc',
    only(/^(?:--version|--help|-[Vvh]|-dump(?:machine|version|fullversion)|-print-[a-z-]+)$/),
  ),
  php: only(/^(?:--version|--help|-[Vvhmi]|--ini)$/),
  dotnet: only(/^(?:--(?:version|help|info|list-sdks|list-runtimes)|-[Vh])$/),
  xcodebuild: only(/^-(?:version|showsdks)$/),
  // The version has more lines with a second word.
  rustc: (args) =>
    args.length === 2 && args.every(({ value }) => /^(?:--version|--verbose|-V)$/.test(value ?? ''))
      ? undefined
      : only(/^(?:--version|--help|-[Vh]|-vV|-Vv)$/)(args),
  // Editors run commands of their input with other words, and the help of pytest runs code of the project.
  ...each('vim nvim nano emacs', only(/^--(?:version|help)$/)),
  pytest: only(/^--version$/),
};
