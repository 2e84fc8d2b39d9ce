// Files.
export {};

// Processes, sandbox and git.
