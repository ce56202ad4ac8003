import { sign } from '../../delivery/signing.ts'
import { checkHeaders, type Outbound } from '../../platform/outbound/index.ts'
import { sealedIn } from './secret-headers.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

/** The request of a job. */
export interface JobRequest {
  url: string
  method: Method
  headers: Record<string, string>
  body: string | null
}

/** A request as it is stored: headers as JSON text, and secret ones sealed. */
export interface StoredRequest {
  url: string
  method: Method
  headers: string
  body: string | null
  /** Missing in requests stored before there were any. */
  secretHeaders?: string | null
}

/** The request in the columns of a job. */
export const storedRequest = ({
  url,
  method,
  headers,
  body,
  secretHeaders = null,
}: StoredRequest): StoredRequest => ({
  url,
  method,
  headers,
  body,
  secretHeaders: sealedIn(secretHeaders),
})

/** Throws `invalid` for a URL that may not be called or headers that can't be sent. */
export function checkRequest(outbound: Outbound, { url, headers }: Partial<JobRequest>) {
  if (url !== undefined) outbound.checkUrl(url)
  if (headers !== undefined) checkHeaders(headers)
}

/** Host and port of a valid URL in normalized form. They form the lane of its runs. */
export function hostOf(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  return `${hostname.replace(/\.$/, '')}:${port || (protocol === 'https:' ? 443 : 80)}`
}

const RESERVED = 'x-clockwork-'

type Headers = Record<string, string>

/**
 * The headers of a request: the job's headers except reserved ones and those that a secret header or
 * signature replaces, and each of ours exactly once.
 */
export function sentHeaders(
  {
    headers,
    secret = {},
    signature = {},
  }: Record<'headers', Headers> & { secret?: Headers; signature?: Headers },
  attempt: { executionId: string; number: number },
): Headers {
  return {
    ...without(headers, { ...secret, ...signature }),
    ...without(secret, signature),
    ...signature,
    'X-Clockwork-Execution-Id': attempt.executionId,
    'X-Clockwork-Attempt': `${attempt.number}`,
  }
}

function without(headers: Headers, others: Headers): Headers {
  const replaced = new Set(Object.keys(others).map((name) => name.toLowerCase()))
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => {
      const lower = name.toLowerCase()
      return !lower.startsWith(RESERVED) && !replaced.has(lower)
    }),
  )
}

/** Headers by Standard Webhooks. Retries have the same id, and a time of their own. */
export function signatureOf(request: {
  runId: string
  body: string | null
  secrets: readonly string[]
  now: number
}): Headers {
  const { runId: id, body, secrets, now } = request
  const timestamp = Math.floor(now / 1000)
  const { standard } = sign({ id, timestamp, body: body ?? '', secrets })
  return { 'webhook-id': id, 'webhook-timestamp': `${timestamp}`, 'webhook-signature': standard }
}
