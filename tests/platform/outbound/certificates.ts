import { generate } from 'selfsigned'

export interface Identity {
  key: string
  cert: string
}

const COMMON = { keyType: 'ec', algorithm: 'sha256' } as const

/** From a day to another, counted from today. */
function days([from, to]: [number, number]) {
  const dayAt = (day: number) => new Date(Date.now() + day * 86_400_000)
  return { notBeforeDate: dayAt(from), notAfterDate: dayAt(to) }
}

export async function createAuthority(name = 'Test authority'): Promise<Identity> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
    ...{ ...COMMON, ...days([-30, 30]) },
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
  valid?: [from: number, to: number]
}

export async function createIdentity({ authority, name, ip, valid = [-1, 1] }: Wanted) {
  const altNames = [
    ...(name ? [{ type: 2 as const, value: name }] : []),
    ...(ip ? [{ type: 7 as const, ip }] : []),
  ]
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'Test server' }], {
    ...{ ...COMMON, ...days(valid), ca: authority },
    extensions: [{ name: 'subjectAltName', altNames }],
  })
  return { key, cert }
}
