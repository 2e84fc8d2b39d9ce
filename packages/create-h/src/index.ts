export { createProject, CreateProjectError, type CreatedProject, type CreateProjectOptions } from './create-project.js';
