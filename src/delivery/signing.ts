import { createHmac } from 'node:crypto'
import { secretBytes } from './signing-secrets.ts'

interface Signable {
  /** Must not contain a dot, which separates the signed parts. */
  id: string
  /** Unix seconds of the attempt. Receivers reject a difference of more than five minutes. */
  timestamp: number
  /** The exact body sent; a string is encoded as UTF-8. */
  body: string | Uint8Array
  /** The secrets to sign with, current one first. */
  secrets: readonly string[]
}

export interface Signature {
  /** Value of `webhook-signature`. */
  standard: string
  /** Value of `X-Service-Signature`. */
  service: string
}

/**
 * Signs one request in both schemes, once per secret, so that a receiver that knows any of the
 * secrets accepts it. The keys differ: Standard Webhooks decodes the secret, while the contract's
 * scheme uses its text as the key, including `whsec_`. Decoded each time, because that costs a
 * tenth of an HMAC over a kilobyte.
 */
export function sign({ id, timestamp, body, secrets }: Signable): Signature {
  const standard = secrets.map((secret) => {
    const digest = hmac(secretBytes(secret), `${id}.${timestamp}.`, body).digest('base64')
    return `v1,${digest}`
  })
  const service = secrets.map((secret) => `v1=${hmac(secret, `${timestamp}.`, body).digest('hex')}`)
  return { standard: standard.join(' '), service: [`t=${timestamp}`, ...service].join(',') }
}

const hmac = (key: string | Uint8Array, head: string, body: string | Uint8Array) =>
  createHmac('sha256', key).update(head).update(body)
