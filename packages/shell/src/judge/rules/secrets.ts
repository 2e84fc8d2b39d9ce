import { settingsMark } from '../../read/words/known-output.js';
import {
  displayers,
  filesOf,
  hidesValues,
  isSecretVariable,
  namesStored,
  printsStored,
  printsVersion,
  secretMark,
  secretVariableMark,
  storedMark,
} from '../../read/files/secrets.js';
import { extracts } from '../written-paths.js';
import type { CommandRule, RuleContext } from '../rule.js';

/** Number of characters of a folder that is read. */
const maxFolder = 1000;

/** Returns what `tar` archives: names are relative to the folder of the `-C` before them. */
const archived = (words: readonly string[]): readonly string[] => {
  let folder = '';
  const isFromList = words.some((word) => /^(?:-[A-Za-z]*T|--files-from)/.test(word));
  const inFolder = (name: string): string =>
    /^[/~]/.test(name) || folder === '' ? name : `${folder.replace(/\/+$/, '')}/${name}`;
  return words.flatMap((word, index) => {
    const [, inline] = /^(?:-C|--(?:directory|cd)=)(.+)$/.exec(word) ?? [];
    const isFolder = /^(?:-[A-Za-z]*C|--directory|--cd)$/.test(words[index - 1] ?? '');
    if (!isFolder && inline === undefined) {
      const name = word.replace(/^--add-file=/, '');
      return name.startsWith('-') ? [] : [inFolder(name)];
    }
    folder = inFolder(inline ?? word);
    if (folder.length > maxFolder) {
      folder = '';
      return ['/'];
    }
    // A list names anything in the folder.
    return isFromList ? [folder] : [];
  });
};

const instead = 'Check that the value exists without displaying it, or ask the person.';

/** Number of characters of the arguments that are compared with them. */
const maxText = 400;

const textOf = ({ arguments: { words } }: RuleContext): string =>
  words
    .filter((word, index) => index > 0 || !/^--?[\w-]+=/.test(word))
    .join(' ')
    .slice(0, maxText);

/** Shells that display what they read with an option. */
const shells = ['sh', 'bash', 'zsh', 'dash', 'ksh'];

/** Programs that print the environment. */
const environment = ['env', 'printenv', 'set', 'export', 'declare', 'typeset'];

/** Number of words in which the subcommand of an unknown program is expected. */
const maxSubcommands = 5;

/** Returns whether the words of any program say that it prints a secret that it stores. */
const seemsToReveal = ({ arguments: { operands }, isOrdinary }: RuleContext): boolean =>
  !isOrdinary && namesStored(operands.map(({ text }) => text));

/** Words with which any program copies a file to where others can read it. */
const uploading =
  /(?:^|[-_:.])(?:upload|put|send|share|publish|gist|paste|pastebin(?:it)?|snippet|attach|transfer)(?:$|[-_:.])/;
/** An address of another machine, or of mail. */
const remotePlace = /^(?:https?|wss?|ftps?|s3|gs):\/\/(?!localhost\b|127\.)|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?::|$)/;
/** Options for keys and settings that a program uses itself. */
const loadsSecret =
  /^--?(?:\w*(?:key|cert|identity|config|credentials?|env)\w*(?:-file)?|[ikcE]|cacert|userconfig|netrc-file)(?:=|$)/i;
/** Secrets belong into these. */
const storing = /secret|vault|\bkv\b|config|\benv|credential|encrypt/;

const secretWord = /secret|token|passw|\bpass\b|pwd|_?key|cred|auth|\bAWS|\bAKIA|BEGIN .*PRIVATE|BEGIN RSA/i;

/** Rules about secrets that a command displays, copies or stores where other people find them. */
export const secretRules: readonly CommandRule[] = [
  {
    rule: 'secrets/displays-file',
    decision: 'ask',
    programs: [...displayers, 'xargs', 'ruby', ...shells],
    test: ({ program, arguments: { words }, madeBy, reads, hasLoadedSecrets, isShown, isSecret }) =>
      isShown &&
      (program !== 'ruby' || words.some((word) => /^-[a-z]*[np]/.test(word))) &&
      // A shell displays the lines of a script with these options.
      (!shells.includes(program) || words.some((word) => /^-[a-z]*[vx]/.test(word))) &&
      (program !== 'xargs' || words.some((word) => /^(?:-a|--arg-file)/.test(word))) &&
      (madeBy.includes(secretMark) ||
        (!/^(?:echo|printf)$/.test(program) &&
          (filesOf(program, words).some((word) => isSecret(word.replace(/^if=/, ''))) ||
            (reads.includes(secretMark) &&
              (hasLoadedSecrets || !reads.some((name) => environment.includes(name))))))) &&
      !hidesValues(program, words) &&
      !words.some((word) => word.startsWith('of=')),
    why: 'It displays a file with keys, credentials or secret settings, which then is in the conversation.',
    instead,
  },
  {
    rule: 'secrets/displays-packed',
    decision: 'ask',
    programs: ['unzip', 'tar', 'bsdtar', 'gtar', '7z', '7za', '7zz', 'unrar', 'gunzip', 'gzip', 'unxz', 'zstd'],
    test: ({ program, arguments: { words, operands }, isShown, isSecret }) =>
      isShown &&
      words.some((word, index) =>
        program.endsWith('tar')
          ? /^--to-stdout$|^-[A-Za-z]*O/.test(word) || (index === 0 && /^x[A-Za-z]*O|^[A-Za-z]*Ox/.test(word))
          : /^-(?:[a-z]*[cp]|so)$/.test(word) || word === 'p',
      ) &&
      operands.some(({ text }) => isSecret(text.replace(/\.(?:gz|xz|zst|bz2)$/, ''))),
    why: 'It displays a file with keys, credentials or secret settings, which then is in the conversation.',
    instead,
  },
  {
    rule: 'secrets/displays-version',
    decision: 'ask',
    programs: ['git'],
    words: ['show', 'diff', 'blame', 'cat-file', 'grep', 'log', 'stash show'],
    test: ({ arguments: { words }, isShown, isSecret }) => isShown && printsVersion(words, isSecret),
    why: 'It displays a file with keys, credentials or secret settings, which then is in the conversation.',
    instead,
  },
  {
    rule: 'secrets/displays-variable',
    decision: 'ask',
    programs: ['echo', 'printf', 'jq'],
    test: ({ program, secretWords, isShown, arguments: { words } }) =>
      isShown &&
      (program === 'jq'
        ? words.some((word) => isSecretVariable(/(?:\$ENV|\benv)\.(\w+)/.exec(word)?.[1] ?? ''))
        : secretWords.length > 0),
    why: 'It displays a secret of the environment, which then is in the conversation.',
    instead,
  },
  {
    rule: 'secrets/displays-encoded',
    decision: 'ask',
    programs: [...displayers],
    test: ({ program, arguments: { words }, isShown, reads }) =>
      isShown &&
      reads.some(
        (name) => name.startsWith(secretVariableMark) || (name === storedMark && !/^(?:pb|x|wl-)|^clip/.test(program)),
      ) &&
      !hidesValues(program, words),
    why: 'It displays a secret of the environment, which then is in the conversation.',
    instead,
  },
  {
    rule: 'secrets/of-machine',
    decision: 'ask',
    programs: ['curl', 'wget', 'http', 'https', 'xh', 'aria2c'],
    argument:
      /(?:169\.254\.169\.254|169\.254\.170\.2|100\.100\.100\.200|metadata\.google\.internal|fd00:ec2::254).*(?:credential|token|identity|secret|user-?data|ssh-keys)/,
    why: 'It displays the credentials of the machine in its cloud, which then are in the conversation.',
    instead,
  },
  {
    rule: 'secrets/searches-home',
    decision: 'ask',
    programs: ['grep', 'egrep', 'fgrep', 'rg', 'ag', 'ack'],
    test: ({ program, arguments: { operands, words, has }, zoneOf }) =>
      (!program.endsWith('grep') || has('-r') === 'yes' || has('-R') === 'yes' || has('--recursive') === 'yes') &&
      !words.some((word) => /^-[A-Za-z]*[clq]/.test(word)) &&
      words.some((word) => secretWord.test(word)) &&
      operands
        .slice(1)
        .some(
          ({ text }) =>
            /^(?:\/(?:home|Users)\/[^/]+|\/root|~)\/\./.test(text) ||
            /^\/(?:home|Users|etc)\/?$/.test(text) ||
            ['home', 'secret', 'root', 'above'].includes(zoneOf(text)),
        ),
    why: 'It searches private files for secrets, and displays them.',
    instead,
  },
  {
    rule: 'secrets/finds-keys',
    decision: 'ask',
    programs: ['find', 'fd', 'fdfind', 'locate', 'plocate', 'mdfind'],
    test: ({ program, arguments: { words }, isSecret, zoneOf }) =>
      (!program.startsWith('f') && words.some(isSecret)) ||
      words.some((folder) => {
        const zone = /^[/~.]/.test(folder) ? zoneOf(folder) : 'inside';
        // Certificates have the same names as keys, but are rarely in home folders.
        return (
          ['home', 'system', 'secret', 'root', 'above'].includes(zone) &&
          words.some((word) => !word.includes('/') && isSecret(word) && (zone === 'home' || !word.startsWith('*.')))
        );
      }),
    why: 'It searches the machine for keys and credentials.',
    instead: 'Search the project.',
  },
  {
    rule: 'secrets/displays-environment',
    decision: 'ask',
    programs: environment,
    test: ({ program, arguments: { operands, words }, hasLoadedSecrets, isShown }) =>
      isShown &&
      (operands.length === 0
        ? hasLoadedSecrets && !words.some((word) => /^-[a-z]*[aefiux]|^\+/.test(word))
        : (program === 'printenv' || words.some((word) => /^-\w*p/.test(word))) &&
          operands.some(({ text }) => isSecretVariable(text))),
    why: 'It displays a secret of the environment, which then is in the conversation.',
    instead,
  },
  {
    rule: 'secrets/searches-environment',
    decision: 'ask',
    programs: ['grep', 'egrep', 'rg', 'awk', 'sed', 'jq', 'yq'],
    test: ({ program, arguments: { words }, reads, isShown }) =>
      isShown &&
      reads.some((name) => name === 'history' || name === settingsMark || environment.includes(name)) &&
      // `to_entries` of jq calls the name of a member its key.
      words.some((word) => secretWord.test(word.includes('_entries') ? word.replaceAll(/\.key\b/g, '') : word)) &&
      !words.some((word) => /^-[A-Za-z]*[vcq]/.test(word)) &&
      !hidesValues(program, words),
    why: 'It displays the secrets of the environment, which then are in the conversation.',
    instead,
  },
  {
    rule: 'secrets/displays-stored',
    decision: 'ask',
    test: (command) => command.isShown && (printsStored(command.program, textOf(command)) || seemsToReveal(command)),
    unless: ['--help|-h'],
    why: 'It displays a secret from a store or an access token, which then is in the conversation.',
    instead: 'Pass the secret to the program that needs it, without displaying it.',
  },
  {
    rule: 'secrets/weakens-keys',
    decision: 'ask',
    programs: ['ssh-keygen', 'ssh-add'],
    test: ({ program, input, reads, zoneOf, arguments: { words, valuesOf } }) =>
      program === 'ssh-add'
        ? words.includes('-D')
        : words.includes('-p') ||
          // An answer replaces a key that exists. The standard name is in the home folder.
          (/^\s*y/i.test(input ?? (reads.length > 0 ? 'y' : '')) &&
            !words.some((word) => /^-[A-Za-z]*[BDeFHiklLQRrsSyY]$/.test(word)) &&
            (valuesOf('-f').length === 0 || valuesOf('-f').some((path) => zoneOf(path) === 'secret'))),
    why: 'It removes or replaces keys, or the passphrase that protects them.',
  },
  {
    rule: 'secrets/copies-keys',
    decision: 'ask',
    programs: ['cp', 'mv', 'ln', 'install', 'rsync', 'dd', 'docker', 'podman', 'kubectl'],
    test: ({ program, arguments: { operands }, isSecret, zoneOf }) =>
      (!/^(?:docker|podman|kubectl)$/.test(program) || operands[0]?.text === 'cp') &&
      operands
        .map(({ text }) => text.replace(/^if=/, ''))
        .some(
          (path, index, all) =>
            (index < all.length - 1 || all.length === 1) &&
            isSecret(path) &&
            (zoneOf(path) === 'secret' || !['inside', 'project'].includes(zoneOf(all.at(-1) ?? ''))),
        ),
    why: 'It copies keys or credentials of the user, or secrets out of the project.',
    instead: 'Ask the person to do it.',
  },
  {
    rule: 'secrets/exports-keys',
    decision: 'ask',
    programs: ['gpg', 'gpg2'],
    argument: /^--export-secret-(?:sub)?keys$/,
    why: 'It copies keys of the user.',
    instead: 'Ask the person to do it.',
  },
  {
    rule: 'secrets/archives-keys',
    decision: 'ask',
    programs: 'tar bsdtar zip 7z gzip xz zstd scp rsync rclone aws gsutil gcloud azcopy s3cmd'.split(' '),
    test: ({ program, arguments: { operands, words, valuesOf }, isSecret, zoneOf }) => {
      const names = program.endsWith('tar') ? archived(words) : operands.map(({ text }) => text);
      const sends = !/^(?:(?:bsd)?tar|zip|7z|gzip|xz|zstd)$/.test(program);
      // The key with which the copy is made.
      const own = program === 'scp' ? valuesOf('-i') : [];
      if (
        sends
          ? !/^[\w.@-]+:/.test(operands.filter(({ isMaybeValue }) => !isMaybeValue).at(-1)?.text ?? '')
          : extracts(words)
      ) {
        return false;
      }
      return names.some(
        (text) =>
          (isSecret(text) && ['secret', 'system'].includes(zoneOf(text)) && !own.includes(text)) ||
          ['home', 'root'].includes(zoneOf(text)) ||
          /^\/(?:home|root|Users)\/?$/.test(text),
      );
    },
    why: 'It copies keys or credentials of the user, and a copy is easily published.',
    instead: 'Ask the person to do it.',
  },
  {
    rule: 'secrets/in-address',
    decision: 'ask',
    programs: ['curl', 'wget', 'wget2', 'http', 'https', 'xh', 'nc', 'ncat'],
    test: ({ program, secretWords, reads, arguments: { words } }) =>
      (sendsInput(program, words) &&
        reads.some(
          (mark) => mark.startsWith(secretVariableMark) && isOfAccount(mark.slice(secretVariableMark.length)),
        )) ||
      secretWords.some(
        ({ text, names }) =>
          (isAddress.test(text) && names.some(isPersonal)) ||
          (/^(?:-d|--data(?:-\w+)?|-F|--form|--json)$/.test(words[words.indexOf(text) - 1] ?? '') &&
            names.some(isOfAccount)),
      ),
    why: 'It sends a secret of the environment in an address, which servers log, or as data.',
    instead: 'Send it in a header, to the service that it belongs to.',
  },
  {
    rule: 'secrets/uploads',
    decision: 'ask',
    test: ({ program, arguments: { operands, words }, input, inputFile, reads, isOrdinary, isSecret }) => {
      if (isOrdinary) return false;
      const names = [program, ...operands.slice(0, maxSubcommands).map(({ text }) => text)];
      return (
        (names.some((word) => uploading.test(word)) || words.some((word) => remotePlace.test(word))) &&
        !names.some((word) => storing.test(word) && !isSecret(word)) &&
        ((inputFile !== undefined && isSecret(inputFile)) ||
          (input === undefined && reads.includes(secretMark)) ||
          words.some(
            (word, index) =>
              isSecret(word.replace(/^(?:--?[\w-]+=)?(?:fileb?:\/\/|@)?/, '')) &&
              !loadsSecret.test(word.startsWith('-') ? word : (words[index - 1] ?? '')),
          ))
      );
    },
    why: 'It sends a file with keys, credentials or secret settings to another machine.',
    instead: 'Ask the person to do it.',
  },
  {
    rule: 'secrets/stages-file',
    decision: 'ask',
    programs: ['git'],
    words: ['add', 'stage', 'commit'],
    test: ({ arguments: { operands }, isSecret }) => operands.slice(1).some(({ text }) => isSecret(text)),
    unless: ['-n|--dry-run'],
    why: 'It records a file with keys, credentials or secret settings in the history.',
    instead: 'Add the file to .gitignore.',
  },
  {
    rule: 'secrets/records-text',
    decision: 'ask',
    programs: ['git'],
    test: ({ madeBy }) => madeBy.includes(secretMark),
    why: 'It records a secret in the history, or sends it to a remote.',
    instead: 'Leave the secret out.',
  },
  {
    rule: 'secrets/token-in-address',
    decision: 'ask',
    programs: ['git', 'pip', 'pip3', 'npm', 'pnpm', 'yarn', 'go', 'hg', 'svn'],
    test: ({ arguments: { words } }) =>
      words.some((word) => {
        const [, user = ''] = addressUser.exec(word) ?? [];
        return user.includes(':') ? !user.endsWith(':') : user.includes('\u{FFFF}') || tokenLike.test(user);
      }),
    why: 'A token in an address is stored in settings, logs and lists of processes.',
    instead: 'Use SSH, or a credential helper.',
  },
];

/** Returns whether a client of HTTP sends its input. */
const sendsInput = (program: string, words: readonly string[]): boolean =>
  program === 'curl'
    ? words.some((word, index) => /^-?[dF]?@-$|[=@]@?-$/.test(word) || (word === '-' && words[index - 1] === '-T'))
    : /^(?:https?|xh)$/.test(program);

const isAddress = /^(?:https?:\/\/|[\w-]+(?:\.[\w-]+)+[/:?])/;

/** A secret that belongs to no address: an API key for one service often does. */
const isPersonal = (name: string): boolean =>
  /^(?:AWS_|AZURE_|GCP_|GOOGLE_APPLICATION|GH_|GITHUB_|GITLAB_|NPM_|PYPI_|DOCKER_|SSH_|VAULT_)|PASSW|PRIVATE|SECRET|DATABASE_URL/.test(
    name,
  );

/** A secret of an account, which belongs to its provider and is sent in headers. */
const isOfAccount = (name: string): boolean =>
  /^(?:AWS_|AZURE_|GCP_|GH_|GITHUB_|NPM_|PYPI_|SSH_|VAULT_)|PRIVATE|DATABASE_URL/.test(name);

/** The user in an address, except for those of this machine. */
const addressUser = /^(?:git\+|url\.)?https?:\/\/([^/@\s]+)@(?!localhost|127\.)/;

/** A name of a user that is a token: a known prefix, or long with digits. */
const tokenLike = /^(?:gh[opsur]_|github_pat_|glpat-|glptt-|ATBB|npm_|oauth2?$)|^(?=\D*\d)[\w-]{24,}$/;
