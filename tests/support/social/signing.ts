import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

/** A key of a provider, with its published name. */
export interface SigningKey {
  kid: string
  alg: 'RS256' | 'ES256'
  privateKey: KeyObject
}

let made = 0

/** An RSA key is like those of most providers, and takes long to make. */
export function newSigningKey(alg: SigningKey['alg'] = 'ES256'): SigningKey {
  const { privateKey } =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { kid: `key-${++made}`, alg, privateKey }
}

/** The public half, as in a key set. */
export const published = ({ kid, alg, privateKey }: SigningKey) => ({
  ...createPublicKey(privateKey).export({ format: 'jwk' }),
  ...{ kid, alg, use: 'sig' },
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
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
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
  { clientId, teamId, keyId, privateKey }: ReturnType<typeof newAppleClient>,
  audience: string,
  nowMs: number,
): boolean {
  const [head, body, signed = ''] = secret.split('.')
  const [{ alg, kid }, { iss, sub, aud, iat, exp }] = [decoded(head), decoded(body)]
  const key = { key: createPublicKey(privateKey), dsaEncoding: 'ieee-p1363' as const }
  return (
    Bun.deepEquals([alg, kid, iss, sub, aud], ['ES256', keyId, teamId, clientId, audience]) &&
    iat <= nowMs / 1000 &&
    exp > nowMs / 1000 &&
    exp - iat <= HALF_A_YEAR_S &&
    verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signed, 'base64url'))
  )
}
