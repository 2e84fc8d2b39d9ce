import { describeHost } from '@h/bridge/testing';
import { agUiHost } from '../test/ag-ui-host.js';

describeHost(agUiHost);
