import type { CommandRule } from '../rule.js';
import { cloudRules } from './clouds.js';
import { containerRules } from './containers.js';
import { diskRules } from './disks.js';
import { fileRules } from './files.js';
import { gitRules } from './git.js';
import { infrastructureRules } from './infrastructure.js';
import { kubernetesRules } from './kubernetes.js';
import { permissionRules } from './permissions.js';
import { processRules } from './processes.js';
import { publishingRules } from './publishing.js';
import { shellRules } from './shell.js';
import { sqlRules } from './sql.js';

/** The default rules of {@link judgeCommand}. */
export const commandRules: readonly CommandRule[] = [
  ...shellRules,
  ...fileRules,
  ...gitRules,
  ...sqlRules,
  ...diskRules,
  ...permissionRules,
  ...processRules,
  ...containerRules,
  ...kubernetesRules,
  ...infrastructureRules,
  ...cloudRules,
  ...publishingRules,
];
