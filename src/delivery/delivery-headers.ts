import { contentTypeOf, type Format } from './formats.ts'
import type { Signature } from './signing.ts'
import type { Trigger } from './triggers.ts'

export interface Delivered {
  /** The middle of `X-Service-Signature`. */
  brandName: string
  messageId: string
  type: string
  format: Format
  /** Unix seconds, as signed. */
  timestamp: number
  /** Counts from 1. */
  attempt: number
  trigger: Trigger
  signature: Signature
  /** The endpoint's own headers. */
  custom: Record<string, string>
}

/**
 * Standard Webhooks allows other signatures beside its own. Our headers override custom ones, in
 * upper or lower case: the brand, and so our names, may have changed since those were stored.
 */
export function deliveryHeaders(delivered: Delivered): Record<string, string> {
  const ours = ownHeaders(delivered)
  const taken = new Set(Object.keys(ours).map((name) => name.toLowerCase()))
  const custom = Object.entries(delivered.custom).filter(([name]) => !taken.has(name.toLowerCase()))
  return Object.fromEntries([...Object.entries(ours), ...custom])
}

const ownHeaders = (delivered: Delivered): Record<string, string> => {
  const { brandName, signature } = delivered
  return {
    'Content-Type': contentTypeOf(delivered.format),
    'webhook-id': delivered.messageId,
    'webhook-timestamp': `${delivered.timestamp}`,
    'webhook-signature': signature.standard,
    [`X-${brandName}-Signature`]: signature.service,
    [`X-${brandName}-Event-Type`]: delivered.type,
    [`X-${brandName}-Attempt`]: `${delivered.attempt}`,
    [`X-${brandName}-Trigger`]: delivered.trigger,
  }
}
