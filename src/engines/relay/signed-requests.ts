import { maskHeaders } from '../../delivery/custom-headers.ts'
import type { Delivery } from '../../delivery/index.ts'
import { composeRequest } from '../../delivery/request.ts'
import { liveSecrets } from '../../delivery/signing-secrets.ts'
import type { Caller } from '../../platform/caller.ts'
import type { Clock } from '../../platform/clock.ts'
import { fail, notFound } from '../../platform/errors.ts'
import { streamOf } from './stream.ts'

/** The request that a resend of a delivery would make now, for a manual call. */
export interface SignedRequest {
  url: string
  /** Secret header values are masked. */
  headers: Record<string, string>
  body: string
}

/**
 * Only for callers that may resend the delivery, because a receiver trusts the request. Undefined
 * if the endpoint is deleted or its secret can't be decrypted.
 */
export const createSignedRequests =
  (parts: { delivery: Delivery; clock: Clock; brandName: string }) =>
  (caller: Caller, deliveryId: string): SignedRequest | undefined => {
    const { delivery, clock, brandName } = parts
    const stream = streamOf(caller)
    const row = delivery.deliveries.find(stream, deliveryId) ?? fail(notFound('delivery not found'))
    const message = delivery.messages.atSeq(caller.tenantId, row.messageSeq)
    if (!message || !delivery.endpoints.exists(stream, row.endpointId)) return undefined
    const endpoint = delivery.endpoints.get(stream, row.endpointId)
    const now = clock.now()
    if (liveSecrets(endpoint.secrets, now).length === 0) return undefined
    const { format } = row
    const input = {
      endpoint,
      message,
      format,
      attempt: row.attempts + 1,
      trigger: 'resend',
    } as const
    const { body, headersWith } = composeRequest(input, brandName, now)
    return { url: endpoint.url, headers: headersWith(maskHeaders(endpoint.headers)), body }
  }
