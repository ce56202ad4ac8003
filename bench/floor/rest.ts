/** The shape of the program and nothing else: a server, and a database of one table, in WAL. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

const [dataDir = ''] = process.argv.slice(2)
const client = new Database(join(dataDir, 'floor.db'), { create: true, strict: true })
client.run('PRAGMA journal_mode = WAL')
client.run('PRAGMA synchronous = FULL')
client.run('CREATE TABLE IF NOT EXISTS things (id INTEGER PRIMARY KEY, name TEXT NOT NULL)')
const find = client.prepare('SELECT * FROM things WHERE id = ?')

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) => Response.json(find.get(Number(new URL(url).searchParams.get('id')))),
})
console.log(JSON.stringify({ url: server.url.origin }))
