import { createHmac } from 'node:crypto'
import { secretBytes } from './signing-secrets.ts'

interface Signable {
  /** Without a dot, which is what separates the signed parts. */
  id: string
  /** Unix seconds of the attempt: receivers refuse what is more than five minutes off. */
  timestamp: number
  /** Exactly what is sent; a string counts as its UTF-8. */
  body: string | Uint8Array
  /** Those to sign with, the current one first. */
  secrets: readonly string[]
}

export interface Signature {
  /** Value of `webhook-signature`. */
  standard: string
  /** Value of `X-Service-Signature`. */
  service: string
}

/**
 * Signs one request in both schemes, once for each secret, so that a receiver which knows any
 * of them accepts it. Keys differ: Standard Webhooks decodes the secret, while the contract's
 * scheme takes its text, `whsec_` and all, for the key. Decoded anew each time, because that is
 * a tenth of what an HMAC over a kilobyte costs.
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
