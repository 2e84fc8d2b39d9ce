import { isWrapper, wrappers } from './wrappers.js';

/** Programs that format or check text, by their names. */
const formatter = /(?:[-_](?:format|fmt|lint|beautify)|(?:fmt|lint|linter|formatter|beautifier|fluff))$/;

/** Returns whether the words of a program are data. */
export const isOrdinary = (name: string): boolean => ordinary.has(name) || formatter.test(name);

/**
 * Programs whose words are data: text, names, files, packages, or scripts of the project. A word such as `delete`, or
 * one that looks like a command, says nothing about what they do.
 */
const ordinary: ReadonlySet<string> = new Set([
  ...Object.entries(wrappers).flatMap(([name, wrapper]) => (isWrapper(wrapper) ? [name] : [])),
  ...[
    // Builtins and programs that print, search or describe.
    ': [ [[ test echo printf print say expr let export set unset alias unalias read declare typeset local readonly return exit break continue shift wait jobs fg bg cd pushd popd dirs pwd history fc bind hash shellcheck type which whereis whatis apropos command man tldr info help true false yes seq notify-send logger figlet cowsay curl wget http https xh claude codex gemini aider llm jira linear slack notion trello asana',
    'find xargs parallel sem grep egrep fgrep zgrep rg ag ack fzf locate awk gawk mawk sed gsed jq yq xq gron tr cut sort uniq wc head tail nl tac rev paste join comm column fold base32 base64 iconv md5sum sha1sum sha256sum shasum od xxd hexdump pbcopy xclip xsel wl-copy diff cmp patch tee cat bat less more ls stat file du df tree basename dirname realpath readlink',
    // Programs that take names of files.
    'touch mkdir rmdir mktemp cp mv rm ln unlink install trash tar zip unzip gzip chmod chown open xdg-open code cursor subl vi vim nvim nano emacs convert magick identify mogrify ffmpeg ffprobe sox exiftool',
    // Version control, builds, packages and runtimes.
    'git hg svn jj gh glab hub commitlint cz npm npm-run-all npm-run-all2 run-s run-p lage wireit ember zx npx pnpm pnpx yarn bun bunx deno node nodejs tsx ts-node make gmake cmake ctest cpack ninja meson just task mage rake invoke inv nox tox poe grunt gulp nx turbo lerna rush moon ng molecule kitchen vite jest vitest mocha pytest eslint prettier bazel bazelisk buck2 pants gradle gradlew mvn mvnw ant sbt lein mix rails django-admin artisan php composer bundle gem ruby python python2 python3 pypy3 perl lua pip pip3 pipx poetry pdm pipenv uv uvx hatch rye conda mamba micromamba pixi cargo rustup rustc go dotnet swift xcodebuild pod flutter dart cabal stack ghcup opam dune elm zig nim shards tsc',
    'brew port apt apt-get aptitude apt-cache dpkg dnf yum zypper pacman yay paru apk snap flatpak emerge nix nix-env nix-shell choco scoop winget n pyenv rbenv nodenv goenv jenv sdk tfenv code-insiders vcpkg conan corepack',
    // Programs of the machine, with rules of their own where they matter.
    'docker docker-compose podman podman-compose nerdctl buildah kubectl oc k helm kustomize terraform tofu packer ssh scp rsync systemctl service launchctl tmux screen zellij pm2 supervisorctl psql mysql mariadb sqlite3 duckdb redis-cli mongosh mongo crontab at adb avdmanager xcrun simctl ollama lms jupyter pre-commit lefthook husky direnv git-lfs todo taskwarrior',
  ].flatMap((line) => line.split(' ')),
]);
