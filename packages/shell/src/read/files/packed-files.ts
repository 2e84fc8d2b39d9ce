/** What a program packs, encrypts or copies, and the files that it makes of it. */
export interface Packed {
  readonly targets: readonly string[];
  readonly sources: readonly string[];
}

/** Maximum number of arguments that are examined. */
const maxArguments = 200;

/** Archivers whose first operands are a subcommand, if they have one, and the archive. */
const archivers: Readonly<Record<string, { readonly subcommand: boolean; readonly suffix?: string }>> = {
  zip: { subcommand: false, suffix: '.zip' },
  shar: { subcommand: false },
  '7z': { subcommand: true, suffix: '.7z' },
  '7za': { subcommand: true, suffix: '.7z' },
  '7zr': { subcommand: true, suffix: '.7z' },
  '7zz': { subcommand: true, suffix: '.7z' },
  rar: { subcommand: true, suffix: '.rar' },
  ar: { subcommand: true },
};

/** Programs with an option for the file that they write, which is among the letters of a cluster for `tar`. */
const options: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(['tar', 'bsdtar', 'gtar', 'pax', 'jar'].map((name) => [name, /^(?:-?[A-Za-z]*f|--file)$/])),
  ...Object.fromEntries(
    'gpg gpg2 age rage zstd minisign lz4 brotli scrypt ccrypt pigz sort yq cpio git qpdf bsdcat xxd'
      .split(' ')
      .map((name) => [name, /^(?:-o|--output|--out)$/]),
  ),
  cpio: /^(?:-[A-Za-z]*[FO]|--file)$/,
  openssl: /^-out$/,
};

/** Options of `tar` that extract or list: the archive is read. */
const reads = /^(?:-?[A-Za-z]*[xt][A-Za-z]*|--(?:extract|get|list))$/;

/** Options whose value is left out of an archive, and options for keys and recipients of programs that encrypt. */
const excludes = /^(?:-X|--exclude(?:-from)?)$/;
const names = /^(?:-[rRui]|--(?:recipient|identity|local-user)|-inkey|-CAkey|-passin|-passout)$/;
const encrypts = /^(?:gpg2?|r?age|openssl)$/;

/** Subcommands of `openssl` that write the secret that they read. */
const converts = /^(?:enc|rsa|dsa|ec|pkey|pkcs\d+|cms|smime)$/;

/** Returns the arguments that a program may pack: `zip` leaves out all words between `-x` and the next option. */
const packedIn = (name: string, words: readonly string[]): readonly string[] => {
  const left = encrypts.test(name) ? names : excludes;
  let isLeftOut = false;
  return words.filter((word, index) => {
    if (word.startsWith('-')) isLeftOut = name === 'zip' && /^(?:-x|--exclude)$/.test(word);
    return !isLeftOut && !left.test(words[index - 1] ?? '');
  });
};

/** Returns the files that a program makes, and the arguments that may be their content. */
export const packedBy = (name: string, words: readonly string[]): Packed | undefined => {
  const args = words.slice(0, maxArguments);
  if (name === 'dd') {
    const valueOf = (key: string): readonly string[] =>
      args.flatMap((word) => (word.startsWith(`${key}=`) ? [word.slice(key.length + 1)] : []));
    return { targets: valueOf('of'), sources: valueOf('if') };
  }
  const archiver = Object.hasOwn(archivers, name) ? archivers[name] : undefined;
  if (archiver !== undefined) {
    const operands = packedIn(name, args).filter(
      (word, index, all) => !word.startsWith('-') && !/^-[Pbt]$/.test(all[index - 1] ?? ''),
    );
    const [archive, ...sources] = operands.slice(archiver.subcommand ? 1 : 0);
    return archive === undefined ? undefined : { targets: [archive, `${archive}${archiver.suffix ?? ''}`], sources };
  }
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined || (name.endsWith('tar') && reads.test(args[0] ?? ''))) return undefined;
  if (name === 'openssl' && (!converts.test(args[0] ?? '') || args.includes('-pubout'))) return undefined;
  const targets = args.flatMap((word, index) => {
    const [, inline] = /^--(?:file|output|out)=(.+)$/.exec(word) ?? [];
    const isOld = index === 0 && name.endsWith('tar') && /^[A-Za-z]*f/.test(word);
    return inline === undefined ? (isOld || option.test(word) ? [args[index + 1] ?? ''] : []) : [inline];
  });
  return { targets, sources: packedIn(name, args).filter((word) => !targets.includes(word)) };
};
