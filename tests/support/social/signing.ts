import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

/** A key of a provider, under the name that it publishes it with. */
export interface SigningKey {
  kid: string
  privateKey: KeyObject
}

let made = 0

export function newSigningKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { kid: `key-${++made}`, privateKey }
}

/** The public half, as it stands in a key set. */
export const published = ({ kid, privateKey }: SigningKey) => ({
  ...createPublicKey(privateKey).export({ format: 'jwk' }),
  kid,
  use: 'sig',
  alg: 'RS256',
})

/** A JWT, taken apart so that a test can bend it. */
export interface Token {
  header: Record<string, unknown>
  claims: Record<string, unknown>
}

export function readToken(jwt: string): Token {
  const [header, claims] = jwt
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
  return { header, claims }
}

/** Signs as the header says: also not at all, or with a secret that both sides know. */
export function signToken({ header, claims }: Token, key: KeyObject, secret: string): string {
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${signature(String(header.alg), text, key, secret)}`
}

function signature(alg: string, text: string, key: KeyObject, secret: string): string {
  if (alg === 'none') return ''
  if (alg === 'HS256') return createHmac('sha256', secret).update(text).digest('base64url')
  return sign('sha256', Buffer.from(text), key).toString('base64url')
}

/** What a developer gets from Apple, once. */
export interface AppleClient {
  clientId: string
  teamId: string
  keyId: string
  /** PEM. */
  privateKey: string
}

const HALF_A_YEAR_S = 15_777_000

export function newAppleClient(): AppleClient {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    clientId: 'org.example.gatehouse',
    teamId: 'TEAM123456',
    keyId: 'KEY1234567',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

/** Whether `secret` is one that Apple would take: who asks, for whom, until when, and signed. */
export function isAppleSecret(secret: string, of: AppleClient, audience: string, nowMs: number) {
  try {
    const { header, claims } = readToken(secret)
    const now = nowMs / 1000
    const isRight =
      header.alg === 'ES256' &&
      header.kid === of.keyId &&
      claims.iss === of.teamId &&
      claims.sub === of.clientId &&
      claims.aud === audience &&
      Number(claims.iat) <= now &&
      Number(claims.exp) > now &&
      Number(claims.exp) - Number(claims.iat) <= HALF_A_YEAR_S
    const [head, body, signed = ''] = secret.split('.')
    const key = createPublicKey(createPrivateKey(of.privateKey))
    const bytes = Buffer.from(signed, 'base64url')
    const text = Buffer.from(`${head}.${body}`)
    return isRight && verify('sha256', text, { key, dsaEncoding: 'ieee-p1363' }, bytes)
  } catch {
    return false
  }
}
