import type { CommandRule } from '../rule.js';

const why = 'It publishes to everybody, and what is published can hardly be taken back.';
const dryRun = ['--dry-run|-n|--help|-h'];

/** Rules about publishing packages. */
export const publishingRules: readonly CommandRule[] = [
  {
    rule: 'publishing/npm',
    decision: 'ask',
    programs: ['npm', 'pnpm', 'yarn', 'bun', 'lerna', 'changeset', 'jsr', 'deno', 'npx', 'nx', 'rush', 'vsce', 'ovsx', 'melos', 'turbo'],
    words: ['publish', '(npm|workspaces|package|release|changeset) publish', 'npm tag add', '-r publish', 'recursive publish'],
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
    why: 'Whoever uses that version loses it.',
    instead: 'Use npm deprecate.',
  },
  {
    rule: 'publishing/npm-change',
    decision: 'ask',
    programs: ['npm', 'pnpm', 'yarn'],
    words: [
      'deprecate', 'dist-tag (add|rm|remove)', 'owner (add|rm|remove)', 'access *', 'token (create|revoke|delete)', 'team *', 'npm tag *',
    ],
    test: ({ arguments: { operands } }) => !(operands[0]?.text === 'access' && /^(?:list|ls|get)/.test(operands[1]?.text ?? '')),
    why: 'It changes what others get from the registry, or who may.',
  },
  {
    rule: 'publishing/release-tools',
    decision: 'ask',
    programs: ['semantic-release', 'release-it', 'np', 'goreleaser', 'cargo-release', 'bumpp', 'auto', 'shipjs', 'jreleaser'],
    test: ({ program, arguments: { operands } }) => program !== 'goreleaser' || /^(?:release|publish)$/.test(operands[0]?.text ?? ''),
    unless: ['-d|--dry-run|--snapshot|--help|-h|--version|--skip-publish|--no-publish|--preview'],
    why,
    instead: 'Use --dry-run, and let a person publish.',
  },
  {
    rule: 'publishing/cargo',
    decision: 'ask',
    programs: ['cargo'],
    words: ['publish', 'yank', 'release', 'owner', 'workspaces publish'],
    unless: dryRun,
    why,
    instead: 'Use cargo publish --dry-run.',
  },
  {
    rule: 'publishing/python',
    decision: 'ask',
    programs: ['twine', 'uv', 'poetry', 'flit', 'hatch', 'pdm', 'maturin', 'rye', 'anaconda', 'conda-build'],
    words: ['upload', 'publish'],
    unless: ['--dry-run'],
    why,
    instead: 'Build the package, and let a person upload it.',
  },
  {
    rule: 'publishing/python-module',
    decision: 'ask',
    programs: ['python', 'python3', 'py'],
    test: ({ arguments: { words } }) =>
      (words.includes('twine') && words.includes('upload')) ||
      (words.includes('setup.py') && words.includes('upload')) ||
      (words.includes('flit') && words.includes('publish')),
    why,
  },
  {
    rule: 'publishing/ruby',
    decision: 'ask',
    programs: ['gem', 'rake', 'bundle'],
    words: ['push', 'yank', 'release', 'exec rake release', 'owner'],
    why,
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
    rule: 'publishing/other',
    decision: 'ask',
    programs: [
      'nuget', 'dotnet', 'pod', 'mix', 'hex', 'dart', 'flutter', 'cabal', 'stack', 'luarocks', 'opam', 'clasp', 'composer', 'elm', 'spago',
      'raco', 'tuist', 'snapcraft', 'flatpak', 'steamcmd', 'butler', 'cpan-upload', 'mojo', 'wally',
    ],
    words: [
      'push', 'nuget push', 'nuget delete', 'delete', 'trunk push', 'trunk delete', 'hex.publish', 'hex.retire', 'publish', 'pub publish',
      'upload', 'release',
    ],
    test: ({ program, arguments: { operands } }) => program !== 'dotnet' || operands[0]?.text === 'nuget',
    unless: dryRun,
    why,
  },
  {
    rule: 'publishing/images',
    decision: 'ask',
    programs: ['docker', 'podman', 'nerdctl', 'helm', 'oras', 'crane', 'skopeo', 'buildah', 'ko', 'cosign'],
    words: ['push', '(image|manifest|compose) push', 'copy', 'registry login'],
    test: ({ program, arguments: { operands } }) => operands[0]?.text !== 'copy' || program === 'skopeo' || program === 'crane',
    unless: dryRun,
    why: 'It publishes an image that others may run.',
  },
  {
    rule: 'publishing/images-built',
    decision: 'ask',
    programs: ['docker', 'podman', 'nerdctl', 'buildah'],
    words: ['build', 'buildx (build|bake)', 'image build'],
    flags: ['--push'],
    why: 'It publishes an image that others may run.',
  },
];
