import type { CommandRule } from '../rule.js';
import { asRoot } from './as-root.js';
import { cloudRules } from './clouds.js';
import { containerRules } from './containers.js';
import { diskRules } from './disks.js';
import { fileRules } from './files.js';
import { gitRules } from './git.js';
import { hubRules } from './hubs.js';
import { infrastructureRules } from './infrastructure.js';
import { kubernetesRules } from './kubernetes.js';
import { networkRules } from './network.js';
import { permissionRules } from './permissions.js';
import { processRules } from './processes.js';
import { publishingRules } from './publishing.js';
import { secretRules } from './secrets.js';
import { shellRules } from './shell.js';
import { sqlRules } from './sql.js';
import { systemRules } from './system.js';

const rules: readonly CommandRule[] = [
  ...shellRules,
  ...secretRules,
  ...fileRules,
  ...gitRules,
  ...hubRules,
  ...sqlRules,
  ...diskRules,
  ...permissionRules,
  ...processRules,
  ...systemRules,
  ...networkRules,
  ...containerRules,
  ...kubernetesRules,
  ...infrastructureRules,
  ...cloudRules,
  ...publishingRules,
];

/** The default rules of {@link judgeCommand}. */
export const commandRules: readonly CommandRule[] = [
  ...rules,
  asRoot(new Set(rules.flatMap(({ programs = [] }) => programs))),
];
