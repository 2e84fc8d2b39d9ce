import { describeHost } from '@h/bridge/testing';
import { aiSdkHost } from '../test/ai-sdk-host.js';

describeHost({ ...aiSdkHost, wires: ['chat-completions', 'responses', 'messages'] });
