import { randomUUIDv7 } from 'bun'

/** Names one request in the answer's `X-Request-Id`, in error bodies and in the log. */
export const newRequestId = (): string => `req_${randomUUIDv7('base64url')}`
