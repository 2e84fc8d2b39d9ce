export {
  commandPermissions,
  type CommandPermissionOptions,
  type CommandPermissions,
  type PermissionVerdict,
} from './permissions/command-permissions.js';
