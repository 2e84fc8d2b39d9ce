import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { checkValue, arrayOf, type OptionCheck } from '@h/options';
import { expandHome } from './home.js';
import type { SkillProblem } from './problem.js';
import type { Skill } from './skill.js';

/** Options of {@link skillEnvironment}. */
export interface SkillEnvironmentOptions {
  /** Variables that skills can set: names, or prefixes that end in `*`. Dangerous variables are never set. */
  readonly allow: readonly string[];
  /** Home folder, for values that start with `~`. */
  readonly home: string;
  /** @defaultValue `process.platform` */
  readonly platform?: string | undefined;
}

/** Variables for commands, and the rejected ones. */
export interface SkillEnvironment {
  readonly env: Readonly<Record<string, string>>;
  readonly problems: readonly SkillProblem[];
}

/** Variables that make programs run or trust other code. They are rejected even if the allow-list contains them. */
const forbidden: readonly RegExp[] = [
  /^(?:PATH|PATHEXT|HOME|USERPROFILE|SHELL|IFS|ENV|PS4|TMPDIR|TEMP|TMP|COMSPEC)$/,
  /^(?:LD|DYLD|GIT|SSH|SUDO|NODE|NPM_CONFIG|BASH|PYTHON|PERL5?|RUBY|JAVA|JDK|LUA|PIP|CARGO|RUSTC?|GO|DOTNET|ELECTRON)_/,
  /^(?:_JAVA_OPTIONS|PYTHONPATH|PYTHONSTARTUP|PYTHONHOME|PERLLIB|PERL5LIB|PERL5OPT|RUBYOPT|RUBYLIB|CLASSPATH|MAKEFLAGS)$/,
  /^(?:EDITOR|VISUAL|PAGER|BROWSER|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|ZDOTDIR|GCONV_PATH|OPENSSL_CONF)$/,
  /(?:^|_)(?:HTTPS?|ALL|NO|FTP)_PROXY$|^(?:SSL_CERT_FILE|SSL_CERT_DIR|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE)$/,
];

const aVariable: OptionCheck = {
  expected: 'the name of a variable, or its beginning with "*"',
  accepts: (value) => typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]*\*?$|^\*$/.test(value),
};

/**
 * Collects the environment variables that skills declare for their commands.
 *
 * Accepts variables of trusted folders whose name is on the allow-list and whose value is an existing path: absolute,
 * below the home folder (`~/…`) or below the skill's folder (`./…`). If two skills set a variable, the first one wins.
 * Each rejected variable has a problem.
 *
 * @throws InvalidOptionError if the allow-list has a wrong value
 */
export const skillEnvironment = async (
  skills: readonly Skill[],
  options: SkillEnvironmentOptions,
): Promise<SkillEnvironment> => {
  const { allow, home, platform = process.platform } = options;
  checkValue('skillEnvironment()', 'allow', allow, arrayOf(aVariable));
  const env: Record<string, string> = Object.create(null) as Record<string, string>;
  const problems: SkillProblem[] = [];
  for (const skill of skills) {
    for (const [name, value] of Object.entries(skill.env)) {
      const problem = await take(skill, name, value, { allow, home, platform, env });
      if (problem) problems.push({ ...problem, path: skill.file });
    }
  }
  return { env: { ...env }, problems };
};

interface TakeSettings {
  readonly allow: readonly string[];
  readonly home: string;
  readonly platform: string;
  readonly env: Record<string, string>;
}

const take = async (
  skill: Skill,
  name: string,
  value: string,
  { allow, home, platform, env }: TakeSettings,
): Promise<SkillProblem | undefined> => {
  const because = (code: string, reason: string): SkillProblem => ({
    code,
    message: `Skill ${skill.name} cannot set ${JSON.stringify(name.slice(0, 80))}: ${reason}`,
  });
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || forbidden.some((pattern) => pattern.test(name.toUpperCase()))) {
    return because('forbidden', 'skills must not set this variable.');
  }
  if (!skill.trusted) return because('not-trusted', 'the folder of the skill is not trusted.');
  if (!allow.some((allowed) => matches(allowed, name, platform))) {
    return because('not-allowed', 'the variable is not on the allow-list.');
  }
  const path = pathOf(skill, value, home, platform);
  if (path === undefined) {
    return because('not-a-path', 'the value is not an absolute path and does not start with "~/" or "./".');
  }
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  if (!exists) return because('missing-path', 'the path does not exist.');
  if (name in env) {
    return env[name] === path ? undefined : because('taken', 'another skill sets a different value.');
  }
  env[name] = path;
  return undefined;
};

const matches = (allowed: string, name: string, platform: string): boolean => {
  const [pattern, given] = platform === 'win32' ? [allowed.toUpperCase(), name.toUpperCase()] : [allowed, name];
  return pattern.endsWith('*') ? given.startsWith(pattern.slice(0, -1)) : given === pattern;
};

const pathOf = (skill: Skill, value: string, home: string, platform: string): string | undefined => {
  if (value.includes('\0')) return undefined;
  if (value.startsWith('./')) return resolve(skill.folder, value);
  const path = expandHome(value, home, { platform });
  return isAbsolute(path) ? path : undefined;
};
