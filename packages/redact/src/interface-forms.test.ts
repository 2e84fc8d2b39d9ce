import { describe, it } from 'vitest';
import { expectHidden, expectPreserved } from '../test/expect-hidden.js';

const passwords = ['sVr7kK8UC3RRy2d', 'MWLIuxN3d4QHr', 'aB3dE9xQmN'];

describe('text that is typed into a field', () => {
  const frames: readonly ((secret: string) => string)[] = [
    (s) => `app.secureTextFields["Password"].typeText("${s}")\n`,
    (s) => `await element(by.id('password')).replaceText('${s}');\n`,
    (s) => `driver.find_element(By.ID, "password").set_value("${s}")\n`,
    (s) => `driver.find_element(By.ID, "password").send_keys("${s}")\n`,
    (s) => `onView(withId("password")).enterText("${s}");\n`,
    (s) => `fill_in "Password", with: "${s}"\n`,
    (s) => `browser.text_field(name: 'password').set '${s}'\n`,
    (s) => `{ name: 'password', value: '${s}' }\n`,
  ];
  it.each(frames.flatMap((frame) => passwords.map((secret) => frame(`«${secret}»`))))('is replaced: %j', expectHidden);

  it.each([
    'expect(page.getByLabel("Password")).toHaveAttribute("type", "text")\n',
    'app.secureTextFields["Password"].waitForExistence(timeout: 5)\n',
    'fill_in "Username", with: "joe2024user"\n',
    'fill_in "Password", with: user.password2\n',
    "expect('#password').to.have.class('mt2InputField')\n",
    "t('password', default: 'Password12')\n",
    "{ name: 'password', label: 'Password2Field' }\n",
    'await page.getByLabel("Password").press("Control+A1")\n',
  ])('is preserved if it is no password: %j', expectPreserved);
});

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

describe('brackets between a name and a value', () => {
  it.each([
    'Driver={ODBC Driver 18};Server=db;UID=svc;PWD={«vvSmz87atY.eam9B»};\n',
    String.raw`\newcommand{\dbpassword}{«ZDu0YwCp2Nwap3»}` + '\n',
    '|*Password*|{{«MJWagW7FyhCSN»}}|\n',
    '*Password*: [«MJWagW7FyhCSN»]\n',
  ])('lead to a secret: %j', expectHidden);

  it.each([
    String.raw`\newcommand{\password}{\textbf{Password2}}` + '\n',
    'const [password, setPassword2] = useState("");\n',
    '<Input password={password1} token={token2Value} />\n',
    'if (password) { user2Login(password); }\n',
    '|*Password*|{{Password2Field}}|\n',
    'map[password] = map2[key]; x = { password } => fn2Call\n',
  ])('are preserved around names: %j', expectPreserved);
});
