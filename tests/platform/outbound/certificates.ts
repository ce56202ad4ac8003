import { generate } from 'selfsigned'

export interface Identity {
  key: string
  cert: string
}

const DAY_MS = 86_400_000

const COMMON = { keyType: 'ec', algorithm: 'sha256' } as const

const days = ([from, to]: [number, number]) => ({
  notBeforeDate: new Date(Date.now() + from * DAY_MS),
  notAfterDate: new Date(Date.now() + to * DAY_MS),
})

export async function createAuthority(name = 'Test authority'): Promise<Identity> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
    ...COMMON,
    ...days([-30, 30]),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  })
  return { key, cert }
}

interface Wanted {
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
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'Test server' }], {
    ...COMMON,
    ...days(valid),
    ...(authority && { ca: authority }),
    extensions: [{ name: 'subjectAltName', altNames }],
  })
  return { key, cert }
}
