// Damage of every byte.
import './damage.test.js';
