/** How long calls in progress at SIGTERM may take to finish. */
export const GRACE_MS = 25_000
/** How long the process then waits for calls that it cut off. */
export const LAST_WORDS_MS = 3000
