/** Variables whose value is a command line for the shell or another program. */
export const programVariable =
  /^(?:PS[0-4]|PROMPT_COMMAND|BASH_ENV|ENV|PAGER|MANPAGER|\w+_PAGER|EDITOR|VISUAL|\w+_EDITOR|BROWSER|LESSOPEN|LESSCLOSE|RSYNC_RSH|RSYNC_CONNECT_PROG|CVS_RSH|SVN_SSH|SSH_ASKPASS|SUDO_ASKPASS|GIT_ASKPASS|GIT_SSH|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND|GIT_SEQUENCE_EDITOR|GIT_CONFIG_VALUE_\d+|TAR_OPTIONS|MAKEFLAGS|RUSTC_WRAPPER|LESS|ZIPOPT|CC|CXX|SHELL|GOFLAGS|\w+_(?:LAUNCHER|WRAPPER|COMMAND|CMD|ASKPASS|RSH)|npm_config_script_shell|LESSEDIT)$/;

/** Variables that name code which programs load: they are judged like an `export`. */
export const codeVariable =
  /^(?:LD|DYLD)_\w+$|^(?:PYTHONSTARTUP|NODE_OPTIONS|JAVA_TOOL_OPTIONS|BASH_ENV|ENV|GIT_SSL_NO_VERIFY|NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY|HISTFILE|HIST(?:FILE)?SIZE|PYTHONPATH|PERL5LIB|RUBYLIB|NODE_PATH|CLASSPATH|ANSIBLE_CONFIG|npm_config_(?:script_shell|userconfig|globalconfig|node_options)|SHELL|\w*(?:REGISTRY|INDEX_URL)|GOPROXY|PATH)$|^(?:PERL5|RUBY)OPT$|^(?:GIT|SSH|SUDO)_(?:ASKPASS|SSH|EXEC_PATH|TEMPLATE_DIR|CONFIG_GLOBAL|CONFIG_SYSTEM)$|^RUSTC_WRAPPER$/;

/** Returns the command line that the value of such a variable is, or is part of. */
export const programIn = (name: string, value: string): string => {
  if (/^(?:BASH_)?ENV$/.test(name)) return `. ${value}`;
  if (name === 'TAR_OPTIONS') return `tar ${value}`;
  if (name === 'MAKEFLAGS') return `make ${value}`;
  if (name === 'GOFLAGS') return `go build ${value}`;
  if (name === 'LESS') return `less '${value.replaceAll("'", '')}'`;
  if (name === 'ZIPOPT') return `zip ${value}`;
  return value.replace(/^\|/, '');
};
