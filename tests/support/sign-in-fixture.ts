import { join } from 'node:path'
import { command, compileBinary, startServer, until } from './binary.ts'
import { temporaryFolder } from './folder.ts'
import { type Received, startMailServer } from './mail-server.ts'
import { PASSWORD } from './person.ts'
import { startRelyingApp } from './relying-app.ts'
import { startCertifiedProvider } from './social/certified.ts'

const PROVIDERS = ['google', 'gitlab'] as const
const TENANT = 'Paper shop'

export type SignInFixture = Awaited<ReturnType<typeof startSignInFixture>>

/**
 * The executable in a folder of its own, as somebody would set it up: with a server for mail, two
 * providers, one tenant that has every way to sign in switched on, and the web app of that tenant.
 * All of it on loopback; ends with the scope.
 */
export async function startSignInFixture() {
  await compileBinary()
  await using ends = new AsyncDisposableStack()
  const folder = ends.use(temporaryFolder())
  const smtp = ends.use(await startMailServer())
  const provider = ends.use(await startCertifiedProvider())
  const settings = { mail: smtp.url, provider }
  await Bun.write(join(folder.path, 'gatehouse.toml'), configuration(settings))
  const server = ends.use(await startServer({ cwd: folder.path }))
  for (const name of PROVIDERS)
    provider.allowRedirect(`${server.url}/auth/self-service/methods/oidc/callback/${name}`)
  const tenant = await newTenant(folder.path)
  const api = clientOf(server.url, tenant.key)
  await api('PUT', '/settings/security', { passwordless_enabled: true, mfa_enabled: true })
  const providers = PROVIDERS.map((name) => ({ provider: name, enabled: true }))
  await api('PUT', '/settings/oidc-providers', { providers })
  const app = ends.use(startRelyingApp({ url: server.url, key: tenant.key }))
  const running = ends.move()

  /** The one mail that an address has got so far; waits for it. */
  async function mailTo(address: string): Promise<Received> {
    const found = () => smtp.received.find(({ to }) => to.includes(address))
    await until(() => found() !== undefined, server.out)
    return found() as Received
  }

  /** Somebody whom the tenant makes an account for, unlike a sign-up without a mail. */
  const create = (email: string, password = PASSWORD): Promise<unknown> =>
    api('POST', '/identities', {
      schema_id: 'user',
      traits: { email },
      credentials: { password: { config: { password } } },
    })

  /** A flow of a tenant that says of no place where the browser goes afterwards. */
  const start = (kind: string) => api('GET', `/auth/${kind}`)

  async function isConfirmed(email: string): Promise<boolean> {
    const { data } = await api('GET', `/identities?email=${email}`)
    return data[0].verifiable_addresses[0].verified
  }

  /** What is answered about a session, as a status. */
  async function whoami(token: string): Promise<number> {
    const headers = { 'x-session-token': token }
    const answer = await fetch(`${server.url}/v1/gate/sessions/whoami`, { headers })
    return answer.status
  }

  return {
    app,
    /** Says whose account at the providers is used. */
    provider,
    mailTo,
    create,
    start,
    isConfirmed,
    whoami,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const configuration = (of: {
  mail: string
  provider: Awaited<ReturnType<typeof startCertifiedProvider>>
}): string =>
  [
    '[mail]',
    `smtp_url = ${JSON.stringify(of.mail)}`,
    'from = "Gatehouse <gatehouse@example.org>"',
    ...PROVIDERS.flatMap((name) => {
      const { clientId, clientSecret, baseUrl } = of.provider.providerConfig(name)
      return [
        `[gate.providers.${name}]`,
        `client_id = ${JSON.stringify(clientId)}`,
        `client_secret = ${JSON.stringify(clientSecret)}`,
        `base_url = ${JSON.stringify(baseUrl)}`,
      ]
    }),
  ].join('\n')

async function newTenant(cwd: string): Promise<{ id: string; key: string }> {
  const cli = async (...args: string[]) =>
    (await command({ cwd, args: [...args, '--json'] })).json()
  const { id } = await cli('tenant', 'create', '--name', TENANT, '--plan', 'unlimited')
  const { key } = await cli('key', 'create', '--tenant', id, '--engine', 'gate')
  return { id, key }
}

/** The tenant's own server, calling what it may; throws on anything but success. */
const clientOf =
  (server: string, key: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: answers of several routes
  async (method: string, path: string, body?: object): Promise<any> => {
    const answer = await fetch(`${server}/v1/gate${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (answer.ok) return answer.json()
    throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  }

/** The six digits of a mail, as they stand in its text. */
export function codeIn({ parsed }: Received): string {
  const code = /^ {4}(\d{6})$/m.exec(parsed.text ?? '')?.[1]
  if (code === undefined) throw new Error(`no code in: ${parsed.text}`)
  return code
}

/** Where the button of a mail leads. */
export function linkIn({ parsed }: Received): string {
  const link = /https?:\/\/\S+/.exec(parsed.text ?? '')?.[0]
  if (link === undefined) throw new Error(`no link in: ${parsed.text}`)
  return link
}
