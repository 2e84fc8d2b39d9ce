/** Programs that fetch from elsewhere. */
export const downloaders: ReadonlySet<string> = new Set([
  'curl', 'wget', 'wget2', 'http', 'https', 'xh', 'aria2c', 'fetch', 'lynx', 'nc', 'ncat', 'netcat', 'scp', 'sftp', 'ftp', 'gsutil',
  's3cmd',
]);

/** Programs whose output is meant to be evaluated: they set up a shell. */
export const generators: ReadonlySet<string> = new Set([
  'ssh-agent', 'direnv', 'pyenv', 'rbenv', 'nodenv', 'goenv', 'jenv', 'nvm', 'fnm', 'volta', 'brew', 'zoxide', 'starship', 'conda',
  'mamba', 'micromamba', 'mise', 'rtx', 'asdf', 'opam', 'dircolors', 'docker-machine', 'minikube', 'kubectl', 'helm', 'gh', 'luarocks',
  'keychain', 'register-python-argcomplete', 'npm', 'pip', 'poetry', 'uv', 'ng', 'thefuck', 'atuin', 'lesspipe', 'resize', 'gpg-agent',
  'gnome-keyring-daemon', 'oh-my-posh', 'rustup', 'nix-env', 'aws', 'gcloud', 'az', 'doctl', 'flux', 'kind', 'k3d', 'fzf', 'tea', 'pkgx',
  'sheldon', 'hugo', 'deno', 'cat', 'locale', 'getopt', 'xdg-user-dir', 'vault',
]);
