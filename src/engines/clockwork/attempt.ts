import type { Clock } from '../../platform/clock.ts'
import type { Outbound, OutboundResult } from '../../platform/outbound/index.ts'
import { RESPONSE_BYTES } from './limits.ts'
import { type JobRequest, sentHeaders } from './request.ts'
import { isRetryable, isSuccess } from './retry.ts'
import type { ExecutionResult } from './store/executions.ts'

export interface AttemptOutcome {
  result: ExecutionResult & { completedAt: number }
  retryable: boolean
}

/** Sends the request of one attempt and says what came of it. Never throws. */
export function createAttempt(parts: { outbound: Outbound; clock: Clock; timeoutMs: number }) {
  const { outbound, clock, timeoutMs } = parts

  return async (
    request: JobRequest,
    attempt: { executionId: string; number: number },
    signal: AbortSignal,
  ): Promise<AttemptOutcome> => {
    const startedAt = clock.monotonic()
    const sent = await outbound.send({
      url: request.url,
      method: request.method,
      headers: sentHeaders(request.headers, attempt),
      body: request.body,
      timeoutMs,
      maxResponseBytes: RESPONSE_BYTES,
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
  responseBody: sent.replied ? textOf(sent.body) : null,
  errorMessage: sent.replied ? null : sent.message,
  address: sent.address,
  timings: JSON.stringify(sent.timings),
})

/** Streaming mode leaves out a character that the size limit cut in two. */
const textOf = (body: Uint8Array): string => new TextDecoder().decode(body, { stream: true })
