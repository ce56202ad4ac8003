import type { Clock } from '../../platform/clock.ts'
import type { Outbound, OutboundResult } from '../../platform/outbound/index.ts'
import { type JobRequest, sentHeaders } from './request.ts'
import { isRetryable, isSuccess } from './retry.ts'
import type { ExecutionResult } from './store/executions.ts'

export interface AttemptOutcome {
  result: ExecutionResult
  retryable: boolean
}

export type SendAttempt = ReturnType<typeof createAttempt>

/** Creates the function that sends the request of one attempt and returns the result. */
export function createAttempt(parts: { outbound: Outbound; clock: Clock; timeoutMs: number }) {
  const { outbound, clock, timeoutMs } = parts

  return async (
    { url, method, headers, body }: JobRequest,
    attempt: { executionId: string; number: number },
    signal: AbortSignal,
  ): Promise<AttemptOutcome> => {
    const startedAt = clock.monotonic()
    const sent = await outbound.send({
      url,
      method,
      headers: sentHeaders(headers, attempt),
      body,
      timeoutMs,
      signal,
    })
    const durationMs = Math.round(clock.monotonic() - startedAt)
    return {
      result: { ...resultOf(sent), completedAt: clock.now(), durationMs },
      retryable: isRetryable(sent),
    }
  }
}

const resultOf = (sent: OutboundResult) => ({
  status: isSuccess(sent) ? ('success' as const) : ('failed' as const),
  responseStatus: sent.replied ? sent.status : null,
  responseBody: sent.replied ? textOf(sent) : null,
  errorMessage: sent.replied ? null : sent.message,
  address: sent.address,
  timings: JSON.stringify(sent.timings),
})

/** The response body as text. Streaming mode omits a character that the size limit cut in two. */
const textOf = ({ body, truncated }: { body: Uint8Array; truncated: boolean }): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(body, { stream: truncated })

/** An attempt that failed on our side, without a response. Retried like a network failure. */
export const unanswered = (
  errorMessage: string,
  startedAt: number,
  now: number,
): AttemptOutcome => ({
  retryable: true,
  result: {
    status: 'failed',
    completedAt: now,
    durationMs: Math.max(now - startedAt, 0),
    responseStatus: null,
    responseBody: null,
    errorMessage,
    address: null,
    timings: null,
  },
})
