import { join } from 'node:path'
import { command, compileBinary, startServer, until } from './binary.ts'
import { temporaryFolder } from './folder.ts'
import { type Received, startMailServer } from './mail-server.ts'
import { PASSWORD } from './person.ts'
import { startRelyingApp } from './relying-app.ts'
import { startCertifiedProvider } from './social/certified.ts'

const PROVIDERS = ['google', 'gitlab'] as const
const TENANT = 'Paper shop'

/**
 * The executable in its own folder with a mail server, two providers, and a tenant with all ways to
 * sign in and a web app. All of it on loopback; ends with the scope.
 */
export async function startSignInFixture() {
  await compileBinary()
  await using ends = new AsyncDisposableStack()
  const folder = ends.use(temporaryFolder())
  const smtp = ends.use(await startMailServer())
  const provider = ends.use(await startCertifiedProvider())
  await Bun.write(join(folder.path, 'gatehouse.toml'), configuration(smtp.url, provider))
  const server = ends.use(await startServer({ cwd: folder.path }))
  for (const name of PROVIDERS)
    provider.allowRedirect(`${server.url}/auth/self-service/methods/oidc/callback/${name}`)
  const key = await newTenant(folder.path)
  const api = clientOf(server.url, key)
  await api('PUT', '/settings/security', { passwordless_enabled: true, mfa_enabled: true })
  const providers = PROVIDERS.map((name) => ({ provider: name, enabled: true }))
  await api('PUT', '/settings/oidc-providers', { providers })
  const app = ends.use(startRelyingApp({ url: server.url, key }))
  const running = ends.move()

  /** The first mail to an address; waits for it. */
  async function mailTo(address: string): Promise<Received> {
    const found = () => smtp.received.find(({ to }) => to.includes(address))
    await until(() => found() !== undefined, server.out)
    return found() as Received
  }

  /** An account that the tenant creates, without a mail. */
  const create = (email: string, password = PASSWORD): Promise<unknown> =>
    api('POST', '/identities', {
      schema_id: 'user',
      traits: { email },
      credentials: { password: { config: { password } } },
    })

  const start = (kind: string) => api('GET', `/auth/${kind}`)

  async function isConfirmed(email: string): Promise<boolean> {
    const { data } = await api('GET', `/identities?email=${email}`)
    return data[0].verifiable_addresses[0].verified
  }

  async function whoami(token: string): Promise<number> {
    const headers = { 'x-session-token': token }
    const answer = await fetch(`${server.url}/v1/gate/sessions/whoami`, { headers })
    return answer.status
  }

  const end = () => running.disposeAsync()
  return { app, provider, mailTo, create, start, isConfirmed, whoami, [Symbol.asyncDispose]: end }
}

type Provider = Awaited<ReturnType<typeof startCertifiedProvider>>

function configuration(smtpUrl: string, provider: Provider): string {
  const ofProvider = (name: (typeof PROVIDERS)[number]) => {
    const { clientId, clientSecret, baseUrl } = provider.providerConfig(name)
    return `[gate.providers.${name}]
client_id = ${JSON.stringify(clientId)}
client_secret = ${JSON.stringify(clientSecret)}
base_url = ${JSON.stringify(baseUrl)}`
  }
  const mail = `[mail]
smtp_url = ${JSON.stringify(smtpUrl)}
from = "Gatehouse <gatehouse@example.org>"`
  return [mail, ...PROVIDERS.map(ofProvider)].join('\n')
}

async function newTenant(cwd: string): Promise<string> {
  const cli = async (...args: string[]) =>
    (await command({ cwd, args: [...args, '--json'] })).json()
  const { id } = await cli('tenant', 'create', '--name', TENANT, '--plan', 'unlimited')
  return (await cli('key', 'create', '--tenant', id, '--engine', 'gate')).key
}

/** The tenant's own server, calling what it may; throws on anything but success. */
const clientOf =
  (server: string, key: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: answers of several routes
  async (method: string, path: string, body?: object): Promise<any> => {
    const sent = body && { body: JSON.stringify(body) }
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${server}/v1/gate${path}`, { method, headers, ...sent })
    if (answer.ok) return answer.json()
    throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  }

function found({ parsed }: Received, pattern: RegExp): string {
  const part = pattern.exec(parsed.text ?? '')?.at(-1)
  if (part === undefined) throw new Error(`no ${pattern} in: ${parsed.text}`)
  return part
}

export const codeIn = (mail: Received) => found(mail, /^ {4}(\d{6})$/m)

export const linkIn = (mail: Received) => found(mail, /https?:\/\/\S+/)
