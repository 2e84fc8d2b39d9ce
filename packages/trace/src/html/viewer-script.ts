import { viewerDetails } from './viewer-details.js';
import { viewerInput } from './viewer-input.js';
import { viewerRows } from './viewer-rows.js';
import { viewerTime } from './viewer-time.js';

/** The script of the page, in four parts. It adds recorded data to the page as text nodes only. */
export const viewerScript = [viewerRows, viewerTime, viewerDetails, viewerInput].join('');
