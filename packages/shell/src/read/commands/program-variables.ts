/** Variables whose value is a command line for the shell or another program. */
export const programVariable =
  /^(?:PS[0-4]|PROMPT_COMMAND|BASH_ENV|ENV|PAGER|MANPAGER|\w+_PAGER|EDITOR|VISUAL|\w+_?EDITOR|BROWSER|LESSOPEN|LESSCLOSE|RSYNC_RSH|RSYNC_CONNECT_PROG|CVS_RSH|SVN_SSH|HGMERGE|SSH_ASKPASS|SUDO_ASKPASS|GIT_ASKPASS|GIT_SSH|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND|GIT_SEQUENCE_EDITOR|GIT_CONFIG_VALUE_\d+|RUSTC_WRAPPER|CC|CXX|SHELL|\w+_(?:LAUNCHER|WRAPPER|COMMAND|CMD|ASKPASS|RSH|PASSCOMMAND|RUNNER)|npm_config_(?:script_shell|editor|viewer)|LESSEDIT|TAR_OPTIONS|(?:GNU)?MAKEFLAGS|GOFLAGS|LESS|ZIPOPT|FZF_(?:DEFAULT|CTRL_[TR]|ALT_C)_OPTS|ERL_[AZ]?FLAGS|ELIXIR_ERL_OPTIONS|PERL5DB|LUA_INIT(?:_\d_\d)?|VIMINIT|EXINIT|GIT_CONFIG_PARAMETERS)$/;

/** Variables with options that name code: interpreters, virtual machines and compilers read them. */
const optionVariable =
  /^(?:(?:NODE|BUN|JAVA_TOOL|_?JAVA|JDK_JAVA)_OPTIONS|(?:JAVA|MAVEN|GRADLE|SBT|CATALINA|LEIN_JVM|MIX)_OPTS|(?:PERL5|RUBY)OPT|PYTEST_ADDOPTS|GOFLAGS|RUSTFLAGS|npm_config_node_options)$/;

/** Variables that name code which programs load: they are judged like an `export`. */
const pathVariable =
  /^(?:LD|DYLD)_\w+$|^(?:PYTHONSTARTUP|BASH_ENV|ENV|ZDOTDIR|GIT_SSL_NO_VERIFY|NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY|HISTFILE|HIST(?:FILE)?SIZE|PYTHONPATH|PYTHONHOME|PERL5LIB|RUBYLIB|NODE_PATH|CLASSPATH|ANSIBLE_(?:CONFIG|LIBRARY|SSH_EXECUTABLE|\w+_PLUGINS)|npm_config_(?:script_shell|userconfig|globalconfig|git)|SHELL|\w*(?:REGISTRY|INDEX_URL)|GOPROXY|PATH|DOTNET_(?:STARTUP_HOOKS|ADDITIONAL_DEPS)|COR(?:ECLR)?_PROFILER_PATH\w*|GCONV_PATH|GIO_MODULE_DIR|GTK_(?:MODULES|PATH)|QT_PLUGIN_PATH|PHPRC|PHP_INI_SCAN_DIR|LUA_(?:INIT|PATH|CPATH)|R_(?:PROFILE|ENVIRON)(?:_USER)?|JULIA_LOAD_PATH|GUILE_LOAD_(?:COMPILED_)?PATH|EMACSLOADPATH|TCLLIBPATH|HGRCPATH|PSQLRC|GDBINIT|INPUTRC|SCREENRC|MAKEFILES|OPENSSL_(?:CONF|ENGINES|MODULES)|BUN_INSPECT_PRELOAD|TS_NODE_REQUIRE|VIMINIT|EXINIT|RUSTC(?:_WORKSPACE)?(?:_WRAPPER)?|CARGO_\w+_(?:WRAPPER|RUNNER|LINKER))$|^(?:GIT|SSH|SUDO)_(?:ASKPASS|SSH|EXEC_PATH|TEMPLATE_DIR|CONFIG_GLOBAL|CONFIG_SYSTEM)$/;

/** Returns whether programs load code that the value of a variable names. */
export const isCodeVariable = (name: string): boolean => pathVariable.test(name) || optionVariable.test(name);

/** Options for memory, dumps, reports, caches and temporary files. */
const setsProperty =
  /^-(?:D(?:maven\.repo\.local|(?:[\w.]*\.)?(?:tmp|temp|cache|logs?|reports?|dump)[._]?(?:dir|directory|file|path)?)=|XX:(?:HeapDumpPath|ErrorFile|LogFile)=|Xlog)\S*$|^--(?:basetemp|[\w-]*(?:diagnostic|report|coverage|cache|prof|log)[\w-]*|junit-?xml)=/;

/** Returns the paths in the value of such a variable. */
export const pathsInVariable = (name: string, value: string): readonly string[] =>
  value
    .split(/\s+/)
    .filter((word) => !optionVariable.test(name) || !setsProperty.test(word))
    .flatMap((word) => word.split(/[:;=,@]+|^-[A-Za-z](?=\/)/));

/** Programs that read a variable as further arguments, or as their code. */
const readers: readonly (readonly [RegExp, string])[] = [
  [/^TAR_OPTIONS$/, 'tar'],
  [/MAKEFLAGS$/, 'make'],
  [/^GOFLAGS$/, 'go build'],
  [/^ZIPOPT$/, 'zip'],
  [/^FZF_\w+_OPTS$/, 'fzf'],
];
const coded: readonly (readonly [RegExp, string])[] = [
  [/^LESS$/, 'less'],
  [/^PERL5DB$/, 'perl -e'],
  [/^LUA_INIT/, 'lua -e'],
  [/^(?:VIM|EX)INIT$/, 'vim -c'],
  [/^(?:ERL_|ELIXIR_)/, 'erl -eval'],
  [/^GIT_CONFIG_PARAMETERS$/, 'git -c'],
];

/** Returns the command line that the value of such a variable is, or is part of. */
export const programIn = (name: string, value: string): string => {
  if (/^(?:BASH_)?ENV$/.test(name)) return `. ${value}`;
  const [, program] = readers.find(([variable]) => variable.test(name)) ?? [];
  if (program !== undefined) return `${program} ${value}`;
  const [, runs] = coded.find(([variable]) => variable.test(name)) ?? [];
  return runs === undefined ? value.replace(/^\|/, '') : `${runs} '${value.replaceAll("'", '')}'`;
};
