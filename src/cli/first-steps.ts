import { resolve } from 'node:path'
import type { Config } from '../config/index.ts'
import { SET_UP_MS } from '../console/operators/links.ts'
import { baseUrlOf, localUrl } from '../http/urls.ts'
import { MINUTE_MS } from '../platform/durations.ts'
import type { Io } from './command.ts'

interface Circumstances {
  io: Io
  config: Config
  /** The port in use. */
  port: number
  uid?: number | undefined
  /** Undefined once the installation is set up. */
  setUpToken: string | undefined
  hasTenant: boolean
}

/** How to open the console or create the first job. Empty once it is set up and has a tenant. */
export function firstSteps({ setUpToken, hasTenant, ...where }: Circumstances): string {
  if (setUpToken === undefined && hasTenant) return ''
  const { config, port } = where
  const url = localUrl({ ...config.server, port })
  const parts = [
    `Gatehouse is running at ${url}. Its data is in ${config.dataDir}.`,
    ...(setUpToken === undefined ? [] : [byBrowser(setUpToken, where)]),
    byCommand(url, hasTenant, where),
    ...(hasTenant ? [] : [`API reference: ${url}/reference`]),
  ]
  return `\n${parts.join('\n\n')}\n`
}

function byBrowser(token: string, { config, port }: Pick<Circumstances, 'config' | 'port'>) {
  const server = { ...config.server, port }
  const note = addressNote(server)
  return (
    'To set up the console, open this link in a browser. It works once, ' +
    `for ${SET_UP_MS / MINUTE_MS} minutes.\n\n` +
    `  ${baseUrlOf(server)}/setup/${token}${note && `\n\n${note}`}`
  )
}

/** A note that links use the local address as long as `base_url` is not set; empty if it is. */
export const addressNote = (server: Config['server']): string =>
  server.baseUrl === undefined
    ? `If your browser uses another address, replace\n${baseUrlOf(server)} with it. To change it permanently, set [server] base_url.`
    : ''

function byCommand(
  url: string,
  hasTenant: boolean,
  { io, config, uid = process.getuid?.() }: Omit<Circumstances, 'setUpToken' | 'hasTenant'>,
): string {
  const isHere = config.dataDir === resolve(io.cwd, 'data')
  const option = isHere ? '' : ` --data-dir ${quoted(config.dataDir)}`
  const where = `in another terminal${isHere ? ' in this folder' : ''}:${asAccount(io, uid)}`
  const command = (words: string) => `  ${io.program} ${words}${option}`
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

/** A path quoted for a shell. */
const quoted = (path: string) =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`

/** Which account to use: in a service's log, the reader is a different one. Root needs none. */
const asAccount = ({ isWatched }: Io, uid: number | undefined) =>
  isWatched || !uid
    ? ''
    : `\n(as the server's account, uid ${uid}: with sudo -u '#${uid}', or in its container)`
