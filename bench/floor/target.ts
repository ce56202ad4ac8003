/** What calls reach: two letters, on one port of as many loopback addresses as asked for, by TLS with a key and a certificate. */
import { loopbackAddress } from '../support/loopback.ts'

const [hosts, key, cert] = process.argv.slice(2)
const tls = key && cert ? { key: Bun.file(key), cert: Bun.file(cert) } : undefined
const serve = (host: number, port: number | undefined) =>
  Bun.serve({ hostname: loopbackAddress(host), port, tls, fetch: () => new Response('ok') })

const { port, url } = serve(0, 0)
for (let host = 1; host < Number(hosts); host++) serve(host, port)
console.log(JSON.stringify({ url: url.origin }))
