import { hideTexts } from '../../delivery/custom-headers.ts'
import type { Clock } from '../../platform/clock.ts'
import type { FailureReason, Outbound, OutboundResult } from '../../platform/outbound/index.ts'
import type { Attempt } from './begin-attempt.ts'
import { sentHeaders, signatureOf } from './request.ts'
import type { SecretHeaders } from './secret-headers.ts'
import type { SigningSecrets } from './signing-secret.ts'
import { matchesStatus, type StatusPattern } from './status-patterns.ts'
import type { ExecutionResult } from './store/executions.ts'

/** Why an attempt failed. `blocked`: the outbound guard refused the URL, which a retry wouldn't change. */
export type ErrorCode =
  | Exclude<FailureReason, 'refused' | 'aborted'>
  | 'status'
  | 'blocked'
  | 'interrupted'
  | 'internal'

export interface AttemptOutcome {
  result: ExecutionResult
  /** Null for a success. */
  errorCode: ErrorCode | null
}

export type SendAttempt = ReturnType<typeof createAttempt>

/** Creates the function that sends the request of one attempt and returns the result. */
export function createAttempt(parts: {
  outbound: Outbound
  clock: Clock
  secretHeaders: SecretHeaders
  signingSecrets: SigningSecrets
}) {
  const { outbound, clock, secretHeaders, signingSecrets } = parts

  return async (attempt: Attempt, signal: AbortSignal): Promise<AttemptOutcome> => {
    const { url, method, headers, body } = attempt.request
    const { run, timeoutMs, successStatuses } = attempt
    const secret = secretHeaders.open(run.jobKind, run.jobId, attempt.request.secretHeaders ?? null)
    const signature = attempt.isSigned ? signatureFor(attempt) : {}
    const startedAt = clock.monotonic()
    const sent = await outbound.send({
      url,
      method,
      headers: sentHeaders(
        { headers: JSON.parse(headers), secret, signature },
        { executionId: run.executionId, number: run.attempt },
      ),
      secretHeaders: Object.keys(secret),
      body,
      timeoutMs,
      signal,
      tenantId: run.tenantId,
      reusesConnection: attempt.reusesConnection,
    })
    const durationMs = Math.round(clock.monotonic() - startedAt)
    const result = resultOf(sent, successStatuses, Object.values(secret))
    return {
      result: { ...result, completedAt: clock.now(), durationMs },
      errorCode: result.status === 'success' ? null : errorCodeOf(sent),
    }
  }

  function signatureFor({ run, request: { body } }: Attempt) {
    const secrets = signingSecrets.live(run.tenantId)
    return signatureOf({ runId: run.runId ?? run.executionId, body, secrets, now: clock.now() })
  }
}

/** The result, without secrets that the target repeats. */
const resultOf = (
  sent: OutboundResult,
  successStatuses: readonly StatusPattern[],
  secrets: readonly string[],
) => ({
  status:
    sent.replied && matchesStatus(successStatuses, sent.status)
      ? ('success' as const)
      : ('failed' as const),
  responseStatus: sent.replied ? sent.status : null,
  responseBody: sent.replied ? hideTexts(secrets, textOf(sent)) : null,
  errorMessage: sent.replied ? null : hideTexts(secrets, sent.message),
  address: sent.address,
  timings: JSON.stringify(sent.timings),
})

function errorCodeOf(sent: OutboundResult): ErrorCode {
  if (sent.replied) return 'status'
  if (sent.reason === 'refused') return 'blocked'
  return sent.reason === 'aborted' ? 'interrupted' : sent.reason
}

/** The response body as text. Streaming mode omits a character that the size limit cut in two. */
const textOf = ({ body, truncated }: { body: Uint8Array; truncated: boolean }): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(body, { stream: truncated })

/** An attempt that failed on our side, without a response. Retried like a network failure. */
export const unanswered = (
  errorCode: 'interrupted' | 'internal',
  errorMessage: string,
  startedAt: number,
  now: number,
): AttemptOutcome => ({
  errorCode,
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
