/** Maximum size of `traits.custom_data` and of `metadata_public`, each, in bytes of JSON. */
export const MAX_DOCUMENT_BYTES = 65_536

/** Maximum size of `traits.custom_data` in a sign-up, which strangers can repeat, in bytes of JSON. */
export const MAX_SIGN_UP_DATA_BYTES = 8192

/** Maximum number of sessions per identity; another one ends the oldest. */
export const SESSIONS_KEPT = 100

/** Maximum number of sign-ins and of failed attempts, each, that are kept per identity. */
export const SIGN_INS_KEPT = 100

/** Bounds of a tenant's session lifetime and idle timeout, in seconds. */
export const MIN_SESSION_SECONDS = 300
export const MAX_SESSION_SECONDS = 3650 * 86_400

/** Bounds of a tenant's minimum password length. */
export const MIN_PASSWORD_LENGTH = 8
export const MAX_PASSWORD_MIN_LENGTH = 128

/** Lifetime of access tokens in seconds: the default, and the maximum. */
export const USUAL_TTL = 3600
export const MAX_TTL = 86_400

/** Maximum number of return URLs per tenant. */
export const MAX_RETURN_URLS = 100
