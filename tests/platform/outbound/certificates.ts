import { generate } from 'selfsigned'

/** Private key and certificate, PEM. */
export interface Identity {
  key: string
  cert: string
}

const DAY_MS = 86_400_000
const COMMON = { keyType: 'ec', algorithm: 'sha256' } as const

export async function createAuthority(name = 'Test authority'): Promise<Identity> {
  return toIdentity(
    await generate([{ name: 'commonName', value: name }], {
      ...COMMON,
      ...days(-30, 30),
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, critical: true },
      ],
    }),
  )
}

interface Wanted {
  /** Signs for itself when left out. */
  authority?: Identity
  name?: string
  ip?: string
  /** First and last day, counted from today. */
  valid?: [from: number, to: number]
}

export async function createIdentity({ authority, name, ip, valid = [-1, 1] }: Wanted) {
  const altNames = [
    ...(name ? [{ type: 2 as const, value: name }] : []),
    ...(ip ? [{ type: 7 as const, ip }] : []),
  ]
  return toIdentity(
    await generate([{ name: 'commonName', value: 'Test server' }], {
      ...COMMON,
      ...days(...valid),
      ...(authority && { ca: authority }),
      extensions: [{ name: 'subjectAltName', altNames }],
    }),
  )
}

const days = (from: number, to: number) => ({
  notBeforeDate: new Date(Date.now() + from * DAY_MS),
  notAfterDate: new Date(Date.now() + to * DAY_MS),
})

const toIdentity = (pems: { private: string; cert: string }): Identity => ({
  key: pems.private,
  cert: pems.cert,
})
