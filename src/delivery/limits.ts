import type { DueLimits } from '../platform/due/queue.ts'

/**
 * Two bulkheads: however many deliveries are tried again, they never take the place of a first
 * attempt, nor do first attempts keep second ones from happening. An endpoint has a share of
 * its tenant's, and a tenant of all.
 */
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

/** Rows that one transaction moves on: keeps requests waiting no longer than some 20 ms. */
export const SLICE = 300

/** Endpoints that a tenant may have in one stream: all are asked about every message. */
export const ENDPOINTS_PER_STREAM = 1000

/** Attempts that are kept of one delivery, the last ones: somebody may send it again for ever. */
export const ATTEMPTS_KEPT = 100

/** What is kept of an answer, in bytes, and how long its body may take once it has begun. */
export const KEPT_RESPONSE_BYTES = 16 * 1024
export const RESPONSE_BODY_MS = 5000
