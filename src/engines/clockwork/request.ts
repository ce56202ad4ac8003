import { checkHeaders, type Outbound } from '../../platform/outbound/index.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

/** The request of a job. */
export interface JobRequest {
  url: string
  method: Method
  headers: Record<string, string>
  body: string | null
}

/** The columns of a request. Headers are stored as JSON text. */
export interface StoredRequest {
  url: string
  method: Method
  headers: string
  body: string | null
}

export const loadedRequest = ({ url, method, headers, body }: StoredRequest): JobRequest => ({
  url,
  method,
  headers: JSON.parse(headers),
  body,
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

/** The headers of a request: the job's headers except reserved ones, and each of ours exactly once. */
export function sentHeaders(
  headers: Record<string, string>,
  attempt: { executionId: string; number: number },
): Record<string, string> {
  const own = Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith(RESERVED))
  return {
    ...Object.fromEntries(own),
    'X-Clockwork-Execution-Id': attempt.executionId,
    'X-Clockwork-Attempt': `${attempt.number}`,
  }
}
