/** Plans and applications of a tenant in a minute. Other tenants wait while one is made. */
export const PER_MINUTE = 10

/** Changes of one application by API and in the console. */
export const MAX_CHANGES = 500

/** Errors that are reported together. */
export const MAX_ERRORS = 20
