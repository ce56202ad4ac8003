import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

/** A key of a provider, with its published name. */
export interface SigningKey {
  kid: string
  privateKey: KeyObject
}

let made = 0

export function newSigningKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { kid: `key-${++made}`, privateKey }
}

/** The public half, as in a key set. */
export const published = ({ kid, privateKey }: SigningKey) => ({
  ...createPublicKey(privateKey).export({ format: 'jwk' }),
  kid,
  use: 'sig',
  alg: 'RS256',
})

/** A JWT, taken apart. */
export interface Token {
  header: Record<string, unknown>
  claims: Record<string, unknown>
}

const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')
const decoded = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString())

/** Signs as the header says: also not at all, or with a shared secret. */
export function signToken({ header, claims }: Token, key: KeyObject, secret: string): string {
  const text = `${encoded(header)}.${encoded(claims)}`
  if (header.alg === 'none') return `${text}.`
  if (header.alg === 'HS256')
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

const HALF_A_YEAR_S = 15_777_000

/** What a developer gets from Apple, once; the key as PEM. */
export function newAppleClient() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    clientId: 'org.example.gatehouse',
    teamId: 'TEAM123456',
    keyId: 'KEY1234567',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

/** Whether Apple would accept this client secret. */
export function isAppleSecret(
  secret: string,
  of: ReturnType<typeof newAppleClient>,
  audience: string,
  nowMs: number,
): boolean {
  const [head, body, signed = ''] = secret.split('.')
  const [header, claims] = [decoded(head), decoded(body)]
  const key = createPublicKey(createPrivateKey(of.privateKey))
  const now = nowMs / 1000
  return (
    header.alg === 'ES256' &&
    header.kid === of.keyId &&
    claims.iss === of.teamId &&
    claims.sub === of.clientId &&
    claims.aud === audience &&
    claims.iat <= now &&
    claims.exp > now &&
    claims.exp - claims.iat <= HALF_A_YEAR_S &&
    verify(
      'sha256',
      Buffer.from(`${head}.${body}`),
      { key, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signed, 'base64url'),
    )
  )
}
