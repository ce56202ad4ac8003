/** Replaces a hidden value in a response. */
export const MASK = '********'

/**
 * Parts of a header name that suggest a secret, such as `Subscription-Key`. Deliberately broad:
 * `X-Author` is masked without need, which only hides its value.
 */
const SENSITIVE =
  /auth|cookie|token|secret|pass|jwt|api[-_]?key|(^|[-_])key$|signature|credential|session/i

/** Whether the name of a header suggests that its value is secret. */
export const isSensitive = (name: string): boolean => SENSITIVE.test(name)
