/** Of `traits.custom_data` and of `metadata_public`, each, in bytes of their JSON. */
export const LARGEST_DOCUMENT = 65_536

/** Sessions of one person; a further one ends the oldest. */
export const SESSIONS_KEPT = 100

/** Seconds that an access token lives unless asked otherwise, and at the most. */
export const USUAL_TTL = 3600
export const LONGEST_TTL = 86_400

/** Addresses that a tenant may list for people to be sent to. */
export const MOST_RETURN_URLS = 100
