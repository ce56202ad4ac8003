import { maskHeaders } from '../../delivery/custom-headers.ts'
import type { Delivery } from '../../delivery/index.ts'
import { composeRequest } from '../../delivery/request.ts'
import { liveSecrets } from '../../delivery/signing-secrets.ts'
import type { Caller } from '../../platform/caller.ts'
import type { Clock } from '../../platform/clock.ts'
import { fail, notFound } from '../../platform/errors.ts'
import { streamOf } from './stream.ts'

/** What a resend of a delivery would send at this moment, for somebody to send by hand. */
export interface SignedRequest {
  url: string
  /** Values of secret headers are masked. */
  headers: Record<string, string>
  body: string
}

/**
 * Requests signed without being sent. Whoever has one can make the receiver believe it, so they are
 * for those who may resend the delivery itself. None where the endpoint is gone, or its secret cannot
 * be opened.
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
    const parcel = {
      endpoint,
      message,
      format,
      attempt: row.attempts + 1,
      trigger: 'resend',
    } as const
    const { body, headersWith } = composeRequest(parcel, brandName, now)
    return { url: endpoint.url, headers: headersWith(maskHeaders(endpoint.headers)), body }
  }
