/**
 * Looks an attempt up by the hash of its nonce, in a file that the program has made, and says how
 * it stands: no key, no schema, and whether it has expired is not asked.
 */
import { hash } from 'node:crypto'
import { openDatabase } from '../../src/db/open.ts'

interface Row {
  state: string
}

const [dataDir = ''] = process.argv.slice(2)
const { client } = openDatabase({ dataDir, synchronous: 'full' })
const find = client.prepare<Row, [string]>(
  'SELECT state FROM passepartout_attempts WHERE nonce_hash = ?',
)

const PARAMETER = 'nonce='

const nonceIn = (url: string) => url.slice(url.indexOf(PARAMETER) + PARAMETER.length)

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) => {
    const { state } = find.get(hash('sha256', nonceIn(url), 'hex')) as Row
    return Response.json({ status: state })
  },
})
console.log(JSON.stringify({ url: server.url.origin }))
