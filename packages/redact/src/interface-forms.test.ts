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

describe('commands, functions and sentences', () => {
  it.each([
    "mycli -u svc -p'«I4LbInj8PhMRH»' db\n",
    'winrs -r:host -u:svc -p:«AhJkp4c4jZ6EnAw» ipconfig\n',
    'mvn sonar:sonar -Dsonar.login=«d19e55a7225243627f00b80d94e4134371a5d84d»\n',
    'TLSPSK: «5b5683f3e825dd135b788974bbd2f19374c258168b75770101b55422a61b87f8»\n',
    'const auth = `Basic ${btoa("svc:«v9i3r3sAdzl1siYv»")}`;\n',
    "Buffer.from('svc:«Tiger-Kettle18»').toString('base64')\n",
    'base64.StdEncoding.EncodeToString([]byte("svc:«pOeh2nMG0U4YE17»"))\n',
    'encoder.encodeToString("svc:«HrqkTd8LMd7Md»".getBytes())\n',
    'assertEquals("«qKnX0yE1vYghRthR»", config.getPassword());\n',
    'require.Equal(t, "«f7CVwm2CF22t»", cfg.Password)\n',
    'Please use «f7PE3Yq6cIiK» as the password\n',
    'const x = "«bwj5UjHj4JNHCfR5pJ54sQYLrEpOfvta»"; // API token for staging\n',
    "E        where '«niAVqQWSX0Xog2e»' = <User svc>.password\n",
    '> crypto.randomBytes(32).toString("hex")\n"«c012a8441c48a57a3efc2eeed3386bff0a16cf3c5ae502e83cc4fc0fca4a87c3»"\n',
    "AES.new(b'«22bf87b7e560ab89f08d3f63931a27e1»', AES.MODE_GCM)\n",
    "SELECT crypt('«aB3dE9xQmN»', gen_salt('bf'));\n",
    'Use code «521085» to sign in\nEnter the code «4821» to verify your address\n',
  ])('have secrets: %j', expectHidden);

  it.each([
    "docker run -p'8080:80' app\ngrep -w'user2name' file\n",
    'sonar.login=admin\nsonar.login: octocat\n',
    'cache.get("cart:Ab12Cd34Ef")\nbtoa("id:Ab12Cd34Ef")\nbtoa("user:password")\n',
    'const x = "primary-button2"; // token for the theme\n',
    "where 'administrator' = <User svc>.password\n",
    'assertEquals("Bearer2Type", config.getToken());\ncache.put("qKnX0yE1vYghRthR", config.getToken());\n',
    'Use Base64 as the token format and sha256 as the secret hash\n',
    'exit with code 4040 to stop\nUse port 8080 to sign in\n',
    '> crypto.randomBytes(32).length\n32\n',
    "decrypt('users2.txt', key)\n",
  ])('are preserved without secrets: %j', expectPreserved);
});
