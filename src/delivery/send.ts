import type { Clock } from '../platform/clock.ts'
import type { FailureReason, Outbound, OutboundResult } from '../platform/outbound/index.ts'
import { maskHeaders } from './custom-headers.ts'
import type { Endpoint } from './endpoint-cache.ts'
import { KEPT_RESPONSE_BYTES, RESPONSE_BODY_MS } from './limits.ts'
import { composeRequest, type SendInput } from './request.ts'
import { retryAfterOf } from './retry.ts'

/** How requests are made and responses are interpreted. */
export interface SendOptions {
  /** The longest time that an attempt may take. */
  timeoutMs: number
  /** If false, a response that asks for a delay or for no more events is an ordinary failure. */
  heedsReceiver: boolean
}

type ErrorCode =
  | Exclude<FailureReason, 'refused' | 'aborted'>
  | 'blocked'
  | 'redirect'
  | 'gone'
  | 'status'
  | 'interrupted'
  | 'internal'

/** The request, response and result of an attempt. Times are in milliseconds. */
export interface Sent {
  result: 'succeeded' | 'failed' | 'interrupted'
  /** What the receiver refuses from now on. */
  refuses: 'message' | 'all' | null
  retryAfterMs: number | null
  startedAt: number
  endedAt: number
  durationMs: number
  /** As sent, with sensitive custom headers masked; null if unknown. */
  request: { url: string; headers: Record<string, string> } | null
  response: { status: number; headers: [name: string, value: string][]; body: string } | null
  error: { code: ErrorCode; message: string } | null
  address: string | null
  timings: OutboundResult['timings'] | null
}

export type Send = ReturnType<typeof createSend>

/** The returned function makes one signed request and resolves whatever the receiver does. */
export function createSend(parts: { outbound: Outbound; clock: Clock; brandName: string }) {
  const { outbound, clock, brandName } = parts

  return async (
    input: SendInput & { endpoint: Endpoint },
    options: SendOptions,
    signal?: AbortSignal,
  ): Promise<Sent> => {
    const { endpoint } = input
    const startedAt = clock.now()
    const started = clock.monotonic()
    const { body, headersWith } = composeRequest(input, brandName, startedAt)
    const headers = headersWith(endpoint.headers)
    const result = await outbound.send({
      url: endpoint.url,
      method: 'POST',
      headers,
      body,
      timeoutMs: options.timeoutMs,
      maxResponseBytes: KEPT_RESPONSE_BYTES,
      headIsEnough: true,
      bodyTimeoutMs: RESPONSE_BODY_MS,
      tenantId: endpoint.tenantId,
      reusesConnection: true,
      ...(signal && { signal }),
    })
    const endedAt = clock.now()
    return {
      ...outcomeOf(result, endedAt, options),
      startedAt,
      endedAt,
      durationMs: Math.max(Math.round(clock.monotonic() - started), 0),
      request: {
        url: endpoint.url,
        headers: hasAny(endpoint.headers) ? headersWith(maskHeaders(endpoint.headers)) : headers,
      },
      response: responseOf(result),
      address: result.address,
      timings: result.timings,
    }
  }
}

const hasAny = (headers: Record<string, string>) => Object.keys(headers).length > 0

/** The response as stored. Streaming mode omits a character that the size limit cut in two. */
function responseOf(result: OutboundResult): Sent['response'] {
  if (!result.replied) return null
  const { status, headers, body, truncated } = result
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body, { stream: truncated })
  return { status, headers, body: text }
}

type Outcome = Pick<Sent, 'result' | 'refuses' | 'retryAfterMs' | 'error'>

/** Any 2xx is a success, even if reading its body failed; everything else is a failure. */
function outcomeOf(
  result: OutboundResult,
  now: number,
  { heedsReceiver }: Pick<SendOptions, 'heedsReceiver'>,
): Outcome {
  const plain = { refuses: null, retryAfterMs: null }
  if (!result.replied) {
    if (result.reason === 'aborted')
      return { ...plain, result: 'interrupted', error: { code: 'interrupted', message: CUT_SHORT } }
    const code = result.reason === 'refused' ? 'blocked' : result.reason
    return { ...plain, result: 'failed', error: { code, message: result.message } }
  }
  const refuses = heedsReceiver ? refusedBy(result) : null
  if (result.status >= 200 && result.status < 300)
    return { ...plain, refuses, result: 'succeeded', error: null }
  const retryAfterMs = heedsReceiver ? retryAfterOf(result.headers, now) : null
  const error = refusal(result, refuses, retryAfterMs)
  return { result: 'failed', refuses, retryAfterMs, error }
}

/** What the receiver refuses, by status 410 or by `disable` or `abort-message` in Svix's header. */
function refusedBy({ status, headers }: Reply): Sent['refuses'] {
  const asked = headers.find(([name]) => name.toLowerCase() === 'webhook-delivery')?.[1].trim()
  if (status === 410 || asked === 'disable') return 'all'
  return asked === 'abort-message' ? 'message' : null
}

type Reply = Extract<OutboundResult, { replied: true }>

const CUT_SHORT = 'Gatehouse stopped during the attempt'

const ASKED = {
  all: ': the receiver wants no more messages',
  message: ': the receiver rejects this message',
}

function refusal(
  { status, headers, bodyIssue }: Reply,
  refuses: Sent['refuses'],
  retryAfterMs: number | null,
): NonNullable<Sent['error']> {
  const issue = bodyIssue === null ? '' : `; ${bodyIssue}`
  const more = (refuses === null ? '' : ASKED[refuses]) + issue
  if (status >= 300 && status < 400) {
    const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1]
    const to = location === undefined ? '' : ` to ${location.slice(0, 500)}`
    const message = `status ${status}: redirect${to}. Redirects are not followed${more}`
    return { code: 'redirect', message }
  }
  const wait =
    retryAfterMs === null ? '' : `, with a request to wait ${Math.ceil(retryAfterMs / 1000)} s`
  const code = refuses === 'all' ? 'gone' : 'status'
  return { code, message: `status ${status}${wait}${more}` }
}

/** The record of an attempt that was interrupted or could not be made. */
export const unsent = (
  startedAt: number,
  now: number,
  result: 'failed' | 'interrupted',
  message: string,
): Sent => ({
  result,
  refuses: null,
  retryAfterMs: null,
  startedAt,
  endedAt: now,
  durationMs: Math.max(now - startedAt, 0),
  request: null,
  response: null,
  error: { code: result === 'failed' ? 'internal' : 'interrupted', message },
  address: null,
  timings: null,
})
