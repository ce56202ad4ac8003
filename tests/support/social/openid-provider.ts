import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Account, newAccount } from './accounts.ts'
import { openIdHost } from './openid-host.ts'
import { CLIENT_ID, CLIENT_SECRET, type State, type Tamper } from './openid-state.ts'
import { OPENID_NAMES, type OpenIdName, personas } from './personas.ts'
import { NOTHING_SET, type ProviderSettings } from './settings.ts'
import { newAppleClient, newSigningKey } from './signing.ts'

export type OpenIdProvider = Awaited<ReturnType<typeof startOpenIdProvider>>

/** Costly to make, so that all share it until one is told to change. */
const FIRST_KEY = newSigningKey()

/**
 * Seven certified OpenID providers on loopback, each with the paths, claims and quirks of the one
 * that it stands for, so that `base_url` is all that a configuration changes.
 */
export async function startOpenIdProvider(
  options: {
    /** What the callbacks are; nothing else is redirected to. */
    redirectUris?: string[]
    /** Shifts the times in ID tokens; without it they are those of the machine. */
    clock?: { now(): number }
    port?: number
  } = {},
) {
  const requests: { method: string; path: string }[] = []
  const state: State = {
    account: newAccount(),
    key: FIRST_KEY,
    tamper: undefined,
    redirectUris: new Set(options.redirectUris),
    accounts: new Map(),
    greeted: new Set(),
    apple: newAppleClient(),
    now: () => options.clock?.now() ?? Date.now(),
  }
  const server = http.createServer()
  await new Promise<void>((done) => server.listen(options.port ?? 0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const hosts = new Map<string, ReturnType<typeof openIdHost>>(
    OPENID_NAMES.map((name) => [name, openIdHost(name, `${url}/${name}`, state)]),
  )

  server.on('request', (request, response) => {
    const path = request.url ?? ''
    requests.push({ method: request.method ?? '', path })
    const host = hosts.get(path.split('/')[1] ?? '')
    if (host) void host(request, response)
    else response.writeHead(404).end()
  })

  const stop = () =>
    new Promise<void>((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })

  return {
    url,
    /** Everything that was asked, in order. */
    requests,
    /** Part of `gate.providers`: this server in the place of `name`. */
    providerConfig: (name: OpenIdName): ProviderSettings => ({
      ...NOTHING_SET,
      clientId: CLIENT_ID,
      ...(name === 'apple' ? state.apple : { clientSecret: CLIENT_SECRET }),
      baseUrl: personas[name].baseUrl(`${url}/${name}`),
    }),
    allowRedirect: (uri: string) => void state.redirectUris.add(uri),
    /** Who presses the button from now on. */
    signInAs: (account: Account) => {
      state.account = account
    },
    /** From now on changes every ID token; without an argument no more. */
    tamper: (change?: Tamper) => {
      state.tamper = change
    },
    /** Signs with another key from now on, which alone is published. */
    rotateKeys: () => {
      state.key = newSigningKey()
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
