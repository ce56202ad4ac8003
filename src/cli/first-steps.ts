import { resolve } from 'node:path'
import type { Config } from '../config/index.ts'
import { localUrl } from '../http/urls.ts'
import type { Io } from './command.ts'

/** What a newcomer needs to see: from nothing to the first job, ready to be pasted. */
export function firstSteps({
  io,
  config,
  port,
  uid = process.getuid?.(),
}: {
  io: Io
  config: Config
  port: number
  uid?: number | undefined
}): string {
  const url = localUrl({ ...config.server, port })
  const isHere = config.dataDir === resolve(io.cwd, 'data')
  const elsewhere = isHere ? '' : ` --data-dir ${quoted(config.dataDir)}`
  return `
Gatehouse runs at ${url} and keeps its data in ${config.dataDir}.
There is no tenant yet. To begin, in another terminal${isHere ? ' in this folder' : ''}:${asAccount(io, uid)}

  ${io.program} tenant create${elsewhere} --name Acme
  ${io.program} key create${elsewhere} --engine clockwork --tenant <the id it shows>

and then, with the key that this shows:

  curl ${url}/v1/clockwork/jobs -H "Authorization: Bearer <key>" \\
    -H "Content-Type: application/json" \\
    -d '{"name":"hello","schedule":"* * * * *","url":"https://example.com/hook"}'

All routes: ${url}/reference
`
}

/** As a shell takes it for one word. */
const quoted = (path: string) =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`

/** Whoever reads this in the log of a service is logged in as somebody else; root may do it all. */
const asAccount = ({ isWatched }: Io, uid: number | undefined) =>
  isWatched || !uid
    ? ''
    : `\n(as uid ${uid}, the account of this server: with sudo -u '#${uid}', or in its container)`
