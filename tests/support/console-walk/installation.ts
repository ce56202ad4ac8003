import { join } from 'node:path'
import { urlIn } from '../../../scripts/release/smoke.ts'
import { BINARY, until } from '../binary.ts'
import { temporaryFolder } from '../folder.ts'
import { collect } from '../shown.ts'
import { startOpenIdProvider } from '../social/index.ts'
import { PROGRAM } from '../source.ts'
import { startTarget } from '../target.ts'

export type Installation = Awaited<ReturnType<typeof startInstallation>>

const STARTS_WITHIN_MS = 30_000

/**
 * A server after its first start, before set-up, that may call this machine and has a sign-in
 * provider. Runs the executable if one was compiled, else the sources. Ends with the scope.
 */
export async function startInstallation() {
  await using ends = new AsyncDisposableStack()
  const folder = ends.use(temporaryFolder())
  const provider = ends.use(await startOpenIdProvider())
  const target = ends.use(startTarget(() => new Response('thanks')))
  const { clientId, clientSecret, baseUrl } = provider.providerConfig('google')
  await Bun.write(
    join(folder.path, 'gatehouse.toml'),
    [
      '[outbound]',
      'allow = ["127.0.0.1"]',
      '[gate.providers.google]',
      `client_id = ${JSON.stringify(clientId)}`,
      `client_secret = ${JSON.stringify(clientSecret)}`,
      `base_url = ${JSON.stringify(baseUrl)}`,
    ].join('\n'),
  )
  const program = process.env.TEST_COMPILED ? [BINARY] : PROGRAM
  const child = Bun.spawn([...program, 'serve', '--server-port', '0'], {
    cwd: folder.path,
    env: {},
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  ends.defer(async () => {
    child.kill()
    await child.exited
  })
  const [out, err] = [collect(child.stdout), collect(child.stderr)]
  const said = () => out.text + err.text
  const setUpUrl = () => /http:\S+\/setup\/\w+/.exec(said())?.[0]
  const isUp = () => urlIn(said()) !== undefined && setUpUrl() !== undefined
  await until(() => isUp() || child.exitCode !== null, said, STARTS_WITHIN_MS)
  if (!isUp()) throw new Error(`did not start: ${said()}`)
  const running = ends.move()
  return {
    url: urlIn(said()) as string,
    folder: folder.path,
    /** From the log. */
    setUpUrl: setUpUrl() as string,
    /** Receives the requests of jobs and webhooks. */
    target,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
