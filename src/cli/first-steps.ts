import { resolve } from 'node:path'
import type { Config } from '../config/index.ts'
import { SET_UP_MS } from '../console/operators/links.ts'
import { baseUrlOf, localUrl } from '../http/urls.ts'
import type { Io } from './command.ts'

interface Circumstances {
  io: Io
  config: Config
  /** The one in use. */
  port: number
  uid?: number | undefined
  /** Undefined once somebody has set up the installation. */
  setUpToken: string | undefined
  hasTenant: boolean
}

/**
 * What a newcomer needs to see: from nothing into the console, or to the first job. Nothing once
 * somebody has been there.
 */
export function firstSteps({ setUpToken, hasTenant, ...where }: Circumstances): string {
  if (setUpToken === undefined && hasTenant) return ''
  const { config, port } = where
  const url = localUrl({ ...config.server, port })
  const parts = [
    `Gatehouse runs at ${url} and keeps its data in ${config.dataDir}.`,
    ...(setUpToken === undefined ? [] : [byBrowser(setUpToken, where)]),
    byCommand(url, hasTenant, where),
    ...(hasTenant ? [] : [`All routes: ${url}/reference`]),
  ]
  return `\n${parts.join('\n\n')}\n`
}

function byBrowser(token: string, { config, port }: Pick<Circumstances, 'config' | 'port'>) {
  const server = { ...config.server, port }
  const note = addressNote(server)
  return (
    'Nobody has set up the console yet. Open this in a browser: it is good once, ' +
    `for ${SET_UP_MS / 60_000} minutes.\n\n` +
    `  ${baseUrlOf(server)}/setup/${token}${note && `\n\n${note}`}`
  )
}

/** Links lead where the server is reached from itself, as long as nobody has said from where else. */
export const addressNote = (server: Config['server']): string =>
  server.baseUrl === undefined
    ? `If your browser reaches the server by another address, put that in the place of\n${baseUrlOf(server)}; [server] base_url names it for good.`
    : ''

function byCommand(
  url: string,
  hasTenant: boolean,
  { io, config, uid = process.getuid?.() }: Omit<Circumstances, 'setUpToken' | 'hasTenant'>,
): string {
  const isHere = config.dataDir === resolve(io.cwd, 'data')
  const elsewhere = isHere ? '' : ` --data-dir ${quoted(config.dataDir)}`
  const where = `in another terminal${isHere ? ' in this folder' : ''}:${asAccount(io, uid)}`
  const command = (words: string) => `  ${io.program} ${words}${elsewhere}`
  return hasTenant
    ? `Or ${where}

${command('operator create')} --admin --email <yours>
${command('operator login-link')} --email <yours>`
    : `Without a browser, ${where}

${command('tenant create')} --name Acme
${command('key create')} --engine clockwork --tenant <the id it shows>
  curl ${url}/v1/clockwork/jobs -H "Authorization: Bearer <key>" -H "Content-Type: application/json" \\
    -d '{"name":"hello","schedule":"* * * * *","url":"https://example.com/hook"}'`
}

/** As a shell takes it for one word. */
const quoted = (path: string) =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`

/** Whoever reads this in the log of a service is logged in as somebody else; root may do it all. */
const asAccount = ({ isWatched }: Io, uid: number | undefined) =>
  isWatched || !uid
    ? ''
    : `\n(as uid ${uid}, the account of this server: with sudo -u '#${uid}', or in its container)`
