import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { temporaryFolder } from './installation.ts'
import type { Server } from './server.ts'

/** The address number `n`, from 0. All of 127.0.0.0/8 is this machine, at least on Linux. */
export const loopbackAddress = (n: number) => `127.0.${n >> 7}.${(n & 127) + 1}`

/** The URLs of a target on as many addresses as it has. */
export const loopbackUrls = ({ url }: Server, count: number) =>
  Array.from({ length: count }, (_, n) => url.replace('127.0.0.1', loopbackAddress(n)))

/** Files with a key and a certificate for the first `count` addresses, which has to be trusted as it is. */
export async function writeCertificate(stack: AsyncDisposableStack, count: number) {
  const altNames = Array.from({ length: count }, (_, n) => ({
    type: 7 as const,
    ip: loopbackAddress(n),
  }))
  const { private: keyText, cert: certText } = await generate(
    [{ name: 'commonName', value: 'Target' }],
    { keyType: 'ec', algorithm: 'sha256', extensions: [{ name: 'subjectAltName', altNames }] },
  )
  const folder = temporaryFolder(stack)
  const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') }
  writeFileSync(files.key, keyText)
  writeFileSync(files.cert, certText)
  return files
}
