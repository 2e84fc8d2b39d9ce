import { needing } from './argument-checks.js';
import { each, listsOnly, options, type Check } from './option-grammar.js';

const noOperands = (flags: string, long = ''): Check => options({ flags, long, operands: 0 });

/** Programs of macOS that only read, with a check of their arguments. */
export const macCommands: Readonly<Record<string, Check>> = {
  // Without an option, arch runs a command. The entitlements would be written into a file.
  arch: noOperands(''),
  codesign: needing(/^-dv*$/, options({ flags: 'dv', long: 'verbose verbose= display' })),
  csrutil: listsOnly('status', {}),
  defaults: listsOnly('read read-type find domains', { long: '-g' }),
  diskutil: listsOnly('list info', { long: '-plist' }),
  launchctl: listsOnly('list print', {}),
  otool: options({ flags: 'LlhtdvVDfaTRSXIH' }),
  pmset: needing(/^-g$/, options({ flags: 'g', operand: /^[a-z]+$/ })),
  plutil: needing(/^-p$/, options({ flags: 'p' })),
  // Without an option, it reads commands.
  scutil: needing(/^--/, options({ long: 'dns proxy nwi get=', operands: 0 })),
  security: listsOnly('list-keychains find-identity', { flags: 'v', values: 'pd', operands: 0 }),
  'xcode-select': noOperands('pv', 'print-path version'),
  xcrun: (args) =>
    args[0]?.value === 'simctl'
      ? listsOnly('list', { flags: 'jv' })(args.slice(1))
      : needing(/^--(?:find|show-sdk-path)$/, options({ long: 'find= show-sdk-path sdk=', operands: 0 }))(args),
  ...each('mdls mdfind pbpaste ioreg vm_stat system_profiler', () => undefined),
};
