// Every moment of a crash.
import './crash.test.js';
