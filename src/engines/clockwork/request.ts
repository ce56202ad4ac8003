import { invalid } from '../../platform/errors.ts'
import { checkHeaders, isForwardableHeader, type Outbound } from '../../platform/outbound/index.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

/** What a job sends to its target. */
export interface JobRequest {
  url: string
  method: Method
  headers: Record<string, string>
  body: string | null
}

/** The columns that hold a request: its headers are JSON text there. */
export interface StoredRequest {
  url: string
  method: Method
  headers: string
  body: string | null
}

export const storedRequest = ({ url, method, headers, body }: JobRequest): StoredRequest => ({
  url,
  method,
  headers: JSON.stringify(headers),
  body,
})

export const loadedRequest = ({ url, method, headers, body }: StoredRequest): JobRequest => ({
  url,
  method,
  headers: JSON.parse(headers),
  body,
})

/** Throws `invalid` for a target that may not be called or headers that cannot be sent. */
export function checkRequest(outbound: Outbound, { url, headers }: Partial<JobRequest>) {
  if (url !== undefined) prefixed('url', () => outbound.checkUrl(url))
  if (headers !== undefined) prefixed('headers', () => checkHeaders(headers))
}

function prefixed(field: string, check: () => void) {
  try {
    check()
  } catch (error) {
    throw error instanceof Error ? invalid(`${field}: ${error.message}`) : error
  }
}

/** Host and port of a checked URL: the lane that its runs stand in. */
export const hostOf = (url: string): string => {
  const { protocol, hostname, port } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

const RESERVED = 'x-clockwork-'

/** What the tenant's headers become on the wire, with ours exactly once each. */
export function sentHeaders(
  headers: Record<string, string>,
  attempt: { executionId: string; number: number },
): Record<string, string> {
  const own = Object.entries(headers).filter(([name]) => isSendable(name))
  return {
    ...Object.fromEntries(own),
    'X-Clockwork-Execution-Id': attempt.executionId,
    'X-Clockwork-Attempt': `${attempt.number}`,
  }
}

const isSendable = (name: string) =>
  isForwardableHeader(name) && !name.toLowerCase().startsWith(RESERVED)
