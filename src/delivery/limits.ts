import type { DueLimits } from '../platform/due/queue.ts'

/** Separate limits, so that neither first attempts nor retries use up the other's capacity. */
export const FIRST_ATTEMPTS: DueLimits = {
  total: 384,
  perTenant: 128,
  perTarget: 16,
  perLane: 16,
  isShared: true,
}
export const FURTHER_ATTEMPTS: DueLimits = {
  total: 128,
  perTenant: 48,
  perTarget: 4,
  perLane: 4,
  isShared: true,
}

/** Rows changed by one transaction; keeps the delay of requests below about 20 ms. */
export const SLICE = 300

/** Endpoints that a tenant may have in one stream. Every message is matched against all of them. */
export const ENDPOINTS_PER_STREAM = 1000

/** The most recent attempts kept for one delivery, which can be resent any number of times. */
export const ATTEMPTS_KEPT = 100

/** Bytes kept of a response, and the time its body may take once it has begun. */
export const KEPT_RESPONSE_BYTES = 16 * 1024
export const RESPONSE_BODY_MS = 5000
