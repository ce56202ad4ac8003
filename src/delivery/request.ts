import { deliveryHeaders } from './delivery-headers.ts'
import type { Endpoint } from './endpoint-cache.ts'
import { bodyOf, type Format, type Message } from './formats.ts'
import { sign } from './signing.ts'
import { liveSecrets } from './signing-secrets.ts'
import type { Trigger } from './triggers.ts'

/** The input of one request. */
export interface SendInput {
  endpoint: Pick<Endpoint, 'secrets'>
  message: Message
  format: Format
  /** Number of the attempt, from 1. */
  attempt: number
  trigger: Trigger
}

/** Signed again for each attempt, because receivers reject signatures older than five minutes. */
export function composeRequest(input: SendInput, brandName: string, now: number) {
  const { endpoint, message, format, attempt, trigger } = input
  const body = bodyOf(format, message)
  const timestamp = Math.floor(now / 1000)
  const secrets = liveSecrets(endpoint.secrets, now)
  const signature = sign({ id: message.id, timestamp, body, secrets })
  const headersWith = (custom: Record<string, string>) =>
    deliveryHeaders({
      brandName,
      messageId: message.id,
      type: message.type,
      format,
      timestamp,
      attempt,
      trigger,
      signature,
      custom,
    })
  return { body, headersWith }
}
