import { createLanes } from '../index.js';
import { describeLanes } from './describe-lanes.js';

describeLanes(({ concurrency, reservedForeground = 0 }) => createLanes({ concurrency, reservedForeground }));
