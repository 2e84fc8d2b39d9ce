import { viewerDetails } from './viewer-details.js';
import { viewerInput } from './viewer-input.js';
import { viewerRows } from './viewer-rows.js';
import { viewerTime } from './viewer-time.js';

/** What the page does: one script in four parts. What was recorded gets into the page as text nodes only. */
export const viewerScript = [viewerRows, viewerTime, viewerDetails, viewerInput].join('');
