export { s3Objects, type S3ObjectsOptions } from './s3-objects.js';
