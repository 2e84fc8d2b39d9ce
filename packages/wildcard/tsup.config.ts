import { library } from '../../tooling/tsup/library.js';

export default library();
