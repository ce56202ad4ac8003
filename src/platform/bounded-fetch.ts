import { getCACertificates } from 'node:tls'
import type { Clock } from './clock.ts'

/** One call, within bounds. The body of the answer has been read whole. */
export type BoundedFetch = (
  url: string,
  init?: { method?: string; headers?: Record<string, string>; body?: string | URLSearchParams },
) => Promise<Response>

export interface BoundedFetchOptions {
  clock: Clock
  /** From the name to the last byte. */
  timeoutMs?: number
  maxBodyBytes?: number
  /** Roots trusted beside the usual ones, PEM. */
  ca?: string | string[]
}

/** Why there is no answer. `message` names a host at most: paths and queries may hold secrets. */
export class FetchFailure extends Error {
  constructor(
    readonly reason: 'timeout' | 'too_large' | 'redirect' | 'unreachable',
    message: string,
  ) {
    super(message)
    this.name = 'FetchFailure'
  }
}

const USUAL_TIMEOUT_MS = 10_000
const USUAL_BODY_BYTES = 1_000_000

/**
 * For addresses that the operator chose, by configuring them or by leaving those that are built
 * in. The rules of `outbound`, which keep what a tenant chose out of the operator's network, are
 * for others: an operator's own GitLab stands in that network.
 *
 * Neither a proxy nor a laxer look at certificates comes from the environment. No redirect is
 * followed: it would carry a secret to whatever address the answer names. Connections are not
 * kept, as a code that was sent on one that had just been closed cannot be sent again. Nothing
 * compressed is asked for or unpacked, so that the cap counts what is held in memory.
 */
export function createBoundedFetch(options: BoundedFetchOptions): BoundedFetch {
  const { clock, timeoutMs = USUAL_TIMEOUT_MS, maxBodyBytes = USUAL_BODY_BYTES } = options
  const tls = { rejectUnauthorized: true, ...(options.ca && { ca: withUsualRoots(options.ca) }) }

  async function answerTo(url: string, init: RequestInit, signal: AbortSignal) {
    const response = await fetch(url, {
      ...init,
      headers: { ...init.headers, 'accept-encoding': 'identity' },
      signal,
      tls,
      redirect: 'manual',
      proxy: false,
      keepalive: false,
      decompress: false,
    })
    if (response.status >= 300 && response.status < 400) throw failure('redirect', url)
    const { status, headers } = response
    return new Response(await bodyOf(response, url, maxBodyBytes), { status, headers })
  }

  return async (url, init = {}) => {
    const cut = new AbortController()
    const cancel = clock.after(timeoutMs, () => cut.abort(failure('timeout', url)))
    try {
      return await answerTo(url, init, cut.signal)
    } catch (error) {
      const cause = cut.signal.aborted ? cut.signal.reason : error
      throw cause instanceof FetchFailure ? cause : failure('unreachable', url, codeOf(cause))
    } finally {
      cancel()
      // A body that nobody reads, such as that of a redirect, would keep its connection.
      cut.abort()
    }
  }
}

/** What is given would take the place of the usual roots. */
const withUsualRoots = (ca: string | string[]) => [...getCACertificates('default'), ...[ca].flat()]

/** Statuses that must not have a body come without one; so does an empty answer. */
async function bodyOf(response: Response, url: string, limit: number) {
  if (!response.body) return null
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > limit) throw failure('too_large', url)
    chunks.push(chunk)
  }
  return size === 0 ? null : Buffer.concat(chunks)
}

const WORDS = {
  timeout: 'gave no complete answer in time',
  too_large: 'answers with more than is read',
  redirect: 'redirects, which is not followed',
  unreachable: 'cannot be reached',
}

function failure(reason: FetchFailure['reason'], url: string, code = '') {
  const host = URL.parse(url)?.host ?? 'an address that is none'
  return new FetchFailure(reason, `${host} ${WORDS[reason]}${code && ` (${code})`}`)
}

/** The system's name of an error. Its text could quote the URL. */
const codeOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^\w{1,60}$/.test(code) ? code : ''
}
