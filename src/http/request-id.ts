import { randomUUIDv7 } from 'bun'

/** An id for one request: in the `X-Request-Id` header, in error bodies and in the log. */
export const newRequestId = (): string => `req_${randomUUIDv7('base64url')}`
