import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { failed } from './errors.ts'

const LIFETIME_S = 300

/** Apple's client secret: a JWT (ES256), made per request so that a leaked one expires soon. */
export function signedSecret(of: {
  teamId: string
  keyId: string
  privateKey: string
  clientId: string
  audience: string
  nowMs: number
}): string {
  const issuedAt = Math.floor(of.nowMs / 1000)
  const signed = [
    { alg: 'ES256', kid: of.keyId },
    {
      iss: of.teamId,
      iat: issuedAt,
      exp: issuedAt + LIFETIME_S,
      aud: of.audience,
      sub: of.clientId,
    },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  const key = keyOf(of.privateKey)
  const signature = sign('sha256', Buffer.from(signed.join('.')), {
    key,
    dsaEncoding: 'ieee-p1363',
  })
  return [...signed, signature.toString('base64url')].join('.')
}

function keyOf(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    return failed('private_key cannot be read')
  }
}
