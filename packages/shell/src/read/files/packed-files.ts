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

/** Options whose value is not packed: what is left out, a key, or a recipient. */
const unpacked = /^(?:-[xX]|--exclude(?:-from)?|-r|-R|--recipient|-u|--identity|-inkey|-CAkey|-passin|-passout)$/;

/** Subcommands of `openssl` that write the secret that they read. */
const converts = /^(?:enc|rsa|dsa|ec|pkey|pkcs\d+|cms|smime)$/;

/** Returns what a program packs: `zip` leaves out all words behind `-x`. */
const packedIn = (words: readonly string[], isZip: boolean): readonly string[] => {
  const end = isZip ? words.findIndex((word) => /^(?:-x|--exclude)$/.test(word)) : -1;
  return (end === -1 ? words : words.slice(0, end)).filter(
    (_, index) => !unpacked.test(words[index - 1] ?? '') || (isZip && words[index - 1] === '-r'),
  );
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
    const operands = packedIn(args, name === 'zip').filter(
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
    return inline === undefined ? (option.test(word) ? [args[index + 1] ?? ''] : []) : [inline];
  });
  return { targets, sources: packedIn(args, false).filter((word) => !targets.includes(word)) };
};
