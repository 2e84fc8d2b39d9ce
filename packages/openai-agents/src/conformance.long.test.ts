import { describeHost } from '@h/bridge/testing';
import { agentsHost } from '../test/agents-host.js';

describeHost({ ...agentsHost, wires: ['chat-completions', 'responses'] });
