import { describe, it } from 'vitest';
import { expectHidden, expectPreserved } from '../test/expect-hidden.js';

describe('tables with bars and without a rule', () => {
  it.each([
    '    | username | password |\n    | svc      | «fcKcmFBeus6n3l» |\n',
    '  | user | api key          |\n  | a    | «Zk8Lq2Wm7Xr4Ty6Bv9Nc» |\n  | b    | «Qw7Er5Ty3Ui9Op1As2Df» |\n',
    '| Username | Password |\n| svc | «fcKcmFBeus6n3l» |\n',
  ])('have secrets below their names: %j', expectHidden);

  it.each([
    '    | column   | type         | note     |\n    | password | varchar(255) | bcrypt60 |\n',
    '    | username | password |\n    | svc      | <empty>  |\n',
    '    | user | password |\n    | a    | (none)   |\n    | id9  | unset    |\n',
  ])('are preserved without secrets: %j', expectPreserved);
});
