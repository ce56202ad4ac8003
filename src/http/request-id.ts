import { randomBase62 } from '../platform/crypto.ts'

/** Names one request in the answer's `X-Request-Id`, in error bodies and in the log. */
export const newRequestId = (): string => `req_${randomBase62(20)}`
