import { needing } from './argument-checks.js';
import { each, options, problemAt, subcommands, type Check, type OptionGrammar } from './option-grammar.js';
import type { StaticWord } from './static-word.js';

type DiffGrammar = Required<Pick<OptionGrammar, 'attached' | 'flags' | 'long' | 'values'>>;

const diff: DiffGrammar = {
  flags: 'psuwbaRzWDq',
  values: 'SGOl',
  attached: 'BMCXU',
  long: 'stat stat= numstat shortstat dirstat dirstat= summary compact-summary name-only name-status patch no-patch patch-with-stat raw minimal patience histogram diff-algorithm= unified unified= color color= no-color color-moved color-moved= word-diff word-diff= word-diff-regex= color-words cached staged merge-base check ignore-all-space ignore-space-change ignore-space-at-eol ignore-cr-at-eol ignore-blank-lines function-context find-renames find-renames= find-copies find-copies= find-copies-harder no-renames rename-empty diff-filter= pickaxe-all pickaxe-regex relative relative= no-relative exit-code quiet no-ext-diff no-textconv submodule ignore-submodules text binary full-index abbrev abbrev= no-prefix default-prefix src-prefix= dst-prefix= inter-hunk-context= no-index ws-error-highlight= anchored= irreversible-delete break-rewrites indent-heuristic skip-to= rotate-to= cc combined-all-paths',
};

const log: DiffGrammar = {
  attached: diff.attached,
  flags: `${diff.flags}cmrtgiEFP`,
  values: `${diff.values}nL`,
  long: `${diff.long} oneline graph all branches branches= tags tags= remotes remotes= decorate decorate= no-decorate decorate-refs= format= pretty pretty= max-count= skip= since= after= until= before= author= committer= grep= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp basic-regexp merges no-merges min-parents= max-parents= first-parent reverse follow full-history dense sparse simplify-merges simplify-by-decoration date= relative-date date-order topo-order author-date-order abbrev-commit no-abbrev-commit notes notes= no-notes left-right left-only right-only cherry-pick cherry-mark cherry walk-reflogs source boundary ancestry-path not glob= exclude= no-walk no-walk= count no-mailmap use-mailmap parents children left-right remerge-diff diff-merges= no-diff-merges log-size expand-tabs expand-tabs= no-expand-tabs encoding= show-pulls clear-decorations objects disk-usage stdin ignore-missing bisect timestamp`,
};

/** Commands that list with these options or without a name, and otherwise create what the name refers to. */
const listing =
  (grammar: OptionGrammar, listers: RegExp): Check =>
  (args) => {
    const problem = options(grammar)(args);
    if (problem !== undefined) return problem;
    if (args.some(({ value, start }) => listers.test(value ?? start))) return undefined;
    const at = args.findIndex(({ start }) => !start.startsWith('-'));
    return at === -1 ? undefined : problemAt(args, at, 'would be created');
  };

const config: Check = (args) => {
  const known = options({
    flags: 'lz',
    values: 'f',
    long: 'get get-all get-regexp get-urlmatch get-color list global local system worktree show-origin show-scope name-only null type= bool int path includes no-includes default= file= all value= fixed-value regexp',
  })(args);
  if (known !== undefined) return known;
  const end = args.findIndex(({ value }) => value === '--');
  if (end !== -1) return problemAt(args, end, 'may be followed by a name and a value to write');
  const operands = args.flatMap(({ start, isMany }, index) =>
    start.startsWith('-') || /^(?:-f|--(?:file|type|default|value))$/.test(args[index - 1]?.value ?? '')
      ? []
      : [{ index, isMany }],
  );
  const at = operands[0]?.index ?? args.length;
  if (/^(?:get|list)$/.test(args[at]?.value ?? '')) return undefined;
  const late = args.findIndex(({ start }, index) => index > at && start.startsWith('-'));
  if (late !== -1) return problemAt(args, late, 'would be written to the configuration');
  const isReading = args.some(({ value }) =>
    /^(?:-l|--list|--get(?:-all|-regexp|-urlmatch|-color)?)$/.test(value ?? ''),
  );
  // With a value after the name, it writes.
  if (isReading || (operands.length <= 1 && operands.every(({ isMany }) => !isMany))) return undefined;
  return problemAt(args, operands[1]?.index ?? -1, 'would be written to the configuration');
};

const reflog: Check = (args) => {
  const first = args[0];
  if (first !== undefined && !/^(?:show|HEAD.*|-.*|.*@\{.*)$/.test(first.value ?? '')) {
    return problemAt(args, 0, 'is not known only to read');
  }
  return options(log)(args);
};

/** Subcommands that only read, with their options. None of them runs an external diff, a pager or an editor. */
const reading = subcommands({
  ...each(
    'diff diff-tree diff-index diff-files range-diff',
    options({
      ...diff,
      flags: `${diff.flags}rtmc`,
      long: `${diff.long} creation-factor= root no-commit-id always pretty pretty= format= no-dual-color`,
    }),
  ),
  ...each('log show whatchanged rev-list', options(log)),
  ...each(
    'blame annotate',
    options({
      flags: 'lsewfntpbc',
      attached: 'CM',
      values: 'LS',
      long: 'date= porcelain line-porcelain incremental root reverse ignore-rev= ignore-revs-file= color-lines color-by-age show-email show-name show-number show-stats minimal abbrev abbrev= contents= since=',
    }),
  ),
  branch: listing(
    {
      flags: 'arvliq',
      long: 'list all remotes show-current contains= no-contains= merged= no-merged= sort= points-at= format= column column= no-column verbose color color= no-color ignore-case abbrev abbrev= no-abbrev',
    },
    /^(?:-[a-z]*l|--list|--contains|--no-contains|--merged|--no-merged|--points-at)/,
  ),
  tag: listing(
    {
      flags: 'li',
      attached: 'n',
      long: 'list sort= contains= no-contains= merged= no-merged= points-at= format= column column= no-column color color= ignore-case',
    },
    /^(?:-[a-z]*l|--list|--contains|--no-contains|--merged|--no-merged|--points-at|-n)/,
  ),
  'cat-file': options({
    flags: 'tpse',
    long: 'batch batch-check batch= batch-check= batch-all-objects allow-unknown-type use-mailmap buffer unordered',
  }),
  'check-attr': options({ flags: 'az', long: 'all stdin cached' }),
  'check-ignore': options({ flags: 'qvzn', long: 'quiet verbose stdin no-index non-matching' }),
  'check-ref-format': options({ long: 'branch normalize allow-onelevel no-allow-onelevel refspec-pattern' }),
  cherry: options({ flags: 'v', long: 'abbrev abbrev=' }),
  // What follows -e would be a pattern, even -n.
  clean: needing(/^(?:-[dxXq]*n[dxXqn]*|--dry-run)$/, options({ flags: 'ndxXq', long: 'dry-run exclude= quiet' })),
  add: needing(/^(?:-[vAu]*n[vAun]*|--dry-run)$/, options({ flags: 'nvAu', long: 'dry-run verbose all update' })),
  // Each of these turns off applying the patch.
  apply: needing(
    /^--(?:check|stat|numstat|summary)$/,
    options({
      flags: 'vRz',
      values: 'pC',
      long: 'check stat numstat summary verbose reverse cached index unidiff-zero recount include= exclude= directory=',
    }),
  ),
  archive: needing(/^(?:-l|--list)$/, options({ flags: 'l', long: 'list', operands: 0 })),
  fsck: options({
    flags: 'v',
    long: 'full no-full strict unreachable dangling no-dangling no-reflogs connectivity-only root tags cache verbose progress no-progress name-objects',
  }),
  'hash-object': options({ flags: 't', long: 'stdin no-filters' }),
  'merge-file': needing(
    /^(?:-p|--stdout)$/,
    options({ flags: 'pq', values: 'L', long: 'stdout quiet diff3 zdiff3 ours theirs union' }),
  ),
  'patch-id': options({ long: 'stable unstable verbatim', operands: 0 }),
  'show-branch': options({
    flags: 'ar',
    long: 'all remotes current topo-order date-order sparse merge-base independent no-name sha1-name topics color no-color',
  }),
  config,
  bisect: subcommands({ log: options({ operands: 0 }) }),
  'count-objects': options({ flags: 'vH', long: 'verbose human-readable' }),
  describe: options({
    long: 'tags always abbrev abbrev= long match= exclude= exact-match contains all first-parent candidates= debug dirty dirty= broken',
  }),
  'for-each-ref': options({
    long: 'format= sort= count= merged merged= no-merged no-merged= contains contains= no-contains= points-at= shell perl python tcl color color= ignore-case exclude=',
  }),
  grep: options({
    flags: 'nilLcwEFPGohHvqzarIpW',
    values: 'eABCfm',
    long: 'line-number column ignore-case files-with-matches name-only files-without-match count word-regexp extended-regexp fixed-strings perl-regexp basic-regexp cached untracked no-index heading break show-function function-context and or not all-match max-depth= max-count= threads= color color= no-color exclude-standard no-exclude-standard recurse-submodules text invert-match only-matching full-name null quiet context= after-context= before-context= no-textconv',
  }),
  'ls-files': options({
    flags: 'comdisuktvfz',
    values: 'xX',
    long: 'cached others modified deleted stage unmerged ignored killed directory no-empty-directory exclude= exclude-from= exclude-per-directory= exclude-standard full-name error-unmatch eol abbrev abbrev= deduplicate format= with-tree= recurse-submodules debug sparse',
  }),
  'ls-tree': options({
    flags: 'rdtlz',
    long: 'name-only name-status long full-name full-tree abbrev abbrev= object-only format=',
  }),
  'ls-remote': options({
    flags: 'qht',
    long: 'heads branches tags refs get-url symref quiet exit-code sort=',
    operand: /^[\w.][\w./-]*$/,
  }),
  'merge-base': options({ flags: 'a', long: 'all is-ancestor octopus independent fork-point' }),
  'name-rev': options({ long: 'name-only tags refs= exclude= all always no-undefined stdin annotate-stdin' }),
  notes: subcommands(each('list show', options({}))),
  reflog,
  remote: (args) =>
    args.length === 0
      ? undefined
      : subcommands({
          '-v': options({ operands: 0 }),
          '--verbose': options({ operands: 0 }),
          show: options({ flags: 'n' }),
          'get-url': options({ long: 'all push' }),
        })(args),
  var: options({ flags: 'l' }),
  'rev-parse': options({
    flags: 'q',
    long: 'show-toplevel short short= abbrev-ref abbrev-ref= verify quiet git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository show-prefix show-cdup show-superproject-working-tree symbolic-full-name symbolic all branches branches= tags tags= remotes remotes= glob= disambiguate= sq since= until= revs-only no-revs flags no-flags show-object-format git-path= path-format= shared-index-path end-of-options',
  }),
  shortlog: options({
    ...log,
    flags: `${log.flags}nse`,
    attached: `${log.attached}w`,
    long: `${log.long} numbered summary email group=`,
  }),
  'show-ref': options({
    flags: 'sdqh',
    long: 'heads branches tags dereference hash hash= verify abbrev abbrev= quiet head exists exclude-existing',
  }),
  stash: subcommands({
    list: options(log),
    show: options({ ...diff, flags: `${diff.flags}u`, long: `${diff.long} include-untracked only-untracked` }),
  }),
  status: options({
    flags: 'sbvz',
    attached: 'u',
    long: 'short branch porcelain porcelain= long verbose untracked-files untracked-files= ignored ignored= column column= no-column ahead-behind no-ahead-behind show-stash renames no-renames find-renames find-renames= ignore-submodules null',
  }),
  submodule: (args) => (args.length === 0 ? undefined : subcommands({ status: options({ operands: 0 }) })(args)),
  'symbolic-ref': options({ flags: 'q', long: 'short quiet no-recurse', operands: 1 }),
  'verify-pack': options({ flags: 'vs', long: 'verbose stat-only' }),
  version: options({ long: 'build-options' }),
  worktree: subcommands({ list: options({ flags: 'vz', long: 'porcelain verbose expire=' }) }),
  // Without a listing option, it opens a viewer.
  help: options({ flags: 'ag', long: 'all guides', operands: 0 }),
});

const globalFlags = /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs|--no-replace-objects)$/;
const harmlessSetting =
  /^(?:color\.[a-z.-]+=[\w ]+|core\.quotepath=\w+|core\.pager=cat|pager\.[a-z-]+=(?:cat|false)|log\.\w+=\w+|diff\.(?:renames|mnemonicprefix|noprefix|algorithm|context)=\w+|advice\.\w+=\w+|core\.fsmonitor=(?:false|0)?|core\.hookspath=\/dev\/null|status\.\w+=\w+|blame\.\w+=\w+|i18n\.\w+=[\w-]+|column\.\w+=\w+)$/i;

/** Returns the index of the subcommand, and any problem with the options before it. */
export const gitSubcommand = (
  args: readonly StaticWord[],
): { readonly at: number; readonly problem?: ReturnType<Check> } => {
  let at = 0;
  for (; at < args.length; at += 1) {
    const { value } = args[at] as StaticWord;
    if (value === undefined) return { at, problem: problemAt(args, at, 'is unknown until it runs') };
    if (!value.startsWith('-')) break;
    if (value === '-C' || value === '-c') {
      const next = args[at + 1]?.value;
      if (next === undefined) {
        return { at, problem: problemAt(args, at, 'has a value that is unknown until it runs') };
      }
      if (value === '-c' && !harmlessSetting.test(next)) {
        return { at: at + 1, problem: problemAt(args, at + 1, 'is a setting that may run a program') };
      }
      at += 1;
    } else if (/^(?:--version|-v|--help|-h)$/.test(value) && args.length === 1) {
      return { at: -1 };
    } else if (!globalFlags.test(value)) {
      return { at, problem: problemAt(args, at, 'is not an option that is known only to read') };
    }
  }
  return { at };
};

/** Checks that a git command only reads. */
export const gitReads: Check = (args) => {
  const { at, problem } = gitSubcommand(args);
  if (problem !== undefined || at === -1) return problem;
  // Some commands parse options behind paths: `git blame -- a --output=b`.
  const end = args.findIndex(({ value }) => value === '--');
  const isBlame = /^(?:blame|annotate)$/.test(args[at]?.value ?? '');
  const late = args.findIndex(
    ({ start, isMany }, index) =>
      end !== -1 && index > end && (start.startsWith('-') || (isBlame && (isMany || index > end + 1))),
  );
  if (late !== -1) return problemAt(args, late, 'may be an option');
  const found = reading(args.slice(at));
  return found === undefined ? undefined : { ...found, at: found.at + at };
};
