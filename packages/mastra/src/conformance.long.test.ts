import { describeHost } from '@h/bridge/testing';
import { mastraHost } from '../test/mastra-host.js';

describeHost({ ...mastraHost, wires: ['chat-completions', 'responses', 'messages'] });
