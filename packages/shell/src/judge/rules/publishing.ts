import type { CommandRule } from '../rule.js';

const why = 'It publishes to everyone, and a published version usually cannot be withdrawn.';
const dryRun = ['--dry-run|-n|--help|-h'];

/** Words with which a program publishes a package or withdraws one, by programs. */
const publishers: Readonly<Record<string, RegExp>> = Object.fromEntries(
  (
    [
      [
        'npm pnpm yarn bun lerna changeset jsr deno npx rush turbo',
        /^(?:(?:npm|workspaces|package|release|changeset|recursive) )?publish\b|^npm tag add/,
      ],
      ['nx', /^release(?! (?:version|changelog|plan))\b|^publish\b/],
      ['cargo', /^(?:workspaces )?(?:publish|yank|release|owner)\b/],
      ['twine uv poetry flit hatch pdm maturin rye anaconda conda-build', /^(?:upload|publish)\b/],
      ['python python3 py', /^setup\.py .*\bupload\b/],
      ['gem rake bundle', /^(?:exec rake )?(?:push|yank|release|owner)\b/],
      ['dotnet', /^nuget (?:push|delete)\b/],
      [
        'nuget pod hex dart flutter cabal stack luarocks opam clasp composer elm spago raco tuist snapcraft flatpak steamcmd butler cpan-upload mojo wally',
        /^(?:(?:trunk|pub) )?(?:push|delete|publish|upload|release)\b/,
      ],
      // `mix release` only builds one.
      ['mix', /^hex\.(?:publish|retire)/],
      [
        'fastlane eas expo altool transporter',
        /^(?:submit|deliver|pilot|supply|upload_to_\w+|publish)\b|^\S+ (?:release|deploy|submit)\b/,
      ],
      ['xcrun', /^altool --upload/],
    ] as const
  ).flatMap(([names, words]) => names.split(' ').map((name) => [name, words] as const)),
);

/** Words with which any other program publishes. */
const publishes = /^(?:publish|unpublish|yank)$/;

/** Number of words that are compared with them. */
const maxWords = 12;

/** Matches the source of a copy of an image. */
const image = /^[a-z-]+:/;
/** Matches an image in a file, a folder or a store of this machine. */
const localImage = /^(?:oci|oci-archive|dir|docker-archive|docker-daemon|containers-storage|sif|ostree):/;

/** Rules about publishing packages. */
export const publishingRules: readonly CommandRule[] = [
  {
    rule: 'publishing/packages',
    decision: 'ask',
    test: ({ program, arguments: { operands, words }, isOrdinary }) => {
      const own = Object.hasOwn(publishers, program) ? publishers[program] : undefined;
      if (own === undefined) return !isOrdinary && operands.slice(0, 2).some(({ text }) => publishes.test(text));
      const texts = program === 'xcrun' ? words : operands.map(({ text }) => text);
      const certain = operands.flatMap(({ text, isMaybeValue }) => (isMaybeValue ? [] : [text]));
      return [texts, certain].some((list) => own.test(list.slice(0, maxWords).join(' ')));
    },
    unless: dryRun,
    why,
    instead: 'Use --dry-run, and let a person publish.',
  },
  {
    rule: 'publishing/npm-undo',
    decision: 'deny',
    programs: ['npm', 'pnpm', 'yarn'],
    words: ['unpublish', 'npm unpublish'],
    unless: ['--dry-run'],
    why: 'Projects that depend on that version break.',
    instead: 'Use npm deprecate.',
  },
  {
    rule: 'publishing/npm-change',
    decision: 'ask',
    programs: ['npm', 'pnpm', 'yarn'],
    words: [
      'deprecate',
      'dist-tag (add|rm|remove)',
      'owner (add|rm|remove)',
      'access *',
      'token (create|revoke|delete)',
      'team *',
      'org (rm|set)',
      'hook add',
      'profile set',
      'npm tag *',
    ],
    test: ({ arguments: { operands } }) =>
      !(operands[0]?.text === 'access' && /^(?:list|ls|get)/.test(operands[1]?.text ?? '')),
    why: 'It changes packages that other people install, or the rights to publish them.',
  },
  {
    rule: 'publishing/release-tools',
    decision: 'ask',
    programs: [
      'semantic-release',
      'release-it',
      'np',
      'goreleaser',
      'cargo-release',
      'bumpp',
      'auto',
      'shipjs',
      'jreleaser',
      'cpan-upload',
    ],
    test: ({ program, arguments: { operands } }) =>
      program !== 'goreleaser' || /^(?:release|publish)$/.test(operands[0]?.text ?? ''),
    unless: ['-d|--dry-run|--snapshot|--help|-h|--version|--skip-publish|--no-publish|--preview'],
    why,
    instead: 'Use --dry-run, and let a person publish.',
  },
  {
    rule: 'publishing/installers',
    decision: 'ask',
    programs: ['electron-builder', 'electron-forge'],
    test: ({ arguments: { words } }) =>
      words.some(
        (word, index) =>
          word === 'publish' ||
          /^(?:-p|--publish)=(?:always|onTag\w*)$/.test(
            word.includes('=') ? word : `${words[index - 1] ?? ''}=${word}`,
          ),
      ),
    unless: dryRun,
    why,
    instead: 'Build it without publishing.',
  },
  {
    rule: 'publishing/release',
    decision: 'ask',
    programs: ['gh', 'glab', 'hub'],
    words: ['release (create|upload|edit)'],
    unless: ['-d|--help'],
    test: ({ arguments: { words } }) => !words.some((word) => /^--draft(?:=true)?$/.test(word)),
    why,
    instead: 'Create it as a draft, and let a person publish it.',
  },
  {
    rule: 'publishing/registry-settings',
    decision: 'ask',
    programs: ['npm', 'pnpm', 'yarn', 'bun'],
    words: ['config set', 'set', 'config'],
    argument:
      /^(?:\/\/.*:)?_?(?:authToken|auth|password)(?:=|$)|^(?:@[\w-]+:)?registry=?(?:http:.*)?$|^(?:npmRegistryServer|npmAuthToken|strict-ssl)(?:=|$)/i,
    test: ({ arguments: { words } }) =>
      words.some((word) => /authToken|_auth|password|strict-ssl/i.test(word)) ||
      words.some((word) => /^(?:registry=)?http:/.test(word)),
    why: 'Later commands send credentials to that registry, or trust it.',
  },
  {
    rule: 'publishing/jvm',
    decision: 'ask',
    programs: ['mvn', 'mvnw', 'gradle', 'gradlew', 'sbt', 'lein', 'mill', './gradlew', './mvnw'],
    argument:
      /^(?::?(?:[\w-]+:)*(?:publish(?!ToMavenLocal|Local|M2)[A-Za-z]*|uploadArchives|closeAndRelease\w*)|deploy|\+?publishSigned|sonatype\w*|release:perform|deploy:deploy(?:-file)?)$/,
    unless: ['-DskipDeploy|--dry-run|-m'],
    why,
  },
  {
    rule: 'publishing/images',
    decision: 'ask',
    programs: ['docker', 'podman', 'nerdctl', 'helm', 'oras', 'crane', 'skopeo', 'buildah', 'ko', 'cosign'],
    words: ['push', '(image|manifest|compose) push', 'copy', 'registry login'],
    test: ({ program, arguments: { operands } }) => {
      const [verb = '', from = '', to = '', ...others] = operands.map(({ text }) => text);
      if (verb !== 'copy' || program === 'crane') return true;
      // Another operand may be the value of an option, so that any of them may be the target.
      return program === 'skopeo' && !(image.test(from) && localImage.test(to) && others.length === 0);
    },
    unless: dryRun,
    why: 'It publishes an image that other people run.',
  },
  {
    rule: 'publishing/images-built',
    decision: 'ask',
    programs: ['docker', 'podman', 'nerdctl', 'buildah'],
    words: ['build', 'buildx (build|bake)', 'image build'],
    flags: ['--push'],
    why: 'It publishes an image that other people run.',
  },
];
