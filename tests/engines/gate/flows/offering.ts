import { createApp } from '../../../../src/app.ts'
import { loadConfig, type ProviderName } from '../../../../src/config/index.ts'
import type { Answer, TestApp } from '../../../support/app.ts'
import { SETTINGS } from '../world.ts'
import { UNHURRIED } from './acts.ts'
import { type FlowWorld, flowsOf } from './world.ts'

/** The flows of the same tenant, by an instance that has clients at these providers. */
export function offering(world: FlowWorld, ...providers: ProviderName[]) {
  const { app: instance } = createApp(world.app.platform, configWith(providers))

  async function raw(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await instance.handle(new Request(`http://localhost${path}`, init))
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  const put = (setting: string, body: unknown) =>
    raw(`${SETTINGS}/${setting}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${world.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  const app: TestApp = { ...world.app, raw }
  return {
    ...flowsOf(app, world),
    /** What the tenant switches on. */
    enable: (...on: ProviderName[]) =>
      put('oidc-providers', { providers: on.map((provider) => ({ provider, enabled: true })) }),
    allowCodes: (isAllowed: boolean) => put('security', { passwordless_enabled: isAllowed }),
  }
}

function configWith(providers: readonly ProviderName[]) {
  const named = (form: (provider: string) => string) =>
    Object.fromEntries(providers.map((provider) => [form(provider), 'x']))
  const loaded = loadConfig({
    flags: { ...UNHURRIED, ...named((name) => `gate-providers-${name}-client-id`) },
    env: named((name) => `GATEHOUSE_GATE_PROVIDERS_${name.toUpperCase()}_CLIENT_SECRET`),
    cwd: '/nowhere',
    readFile: missing,
  })
  if (!loaded.ok) throw new Error(loaded.errors.map(({ message }) => message).join('; '))
  return loaded.config
}

function missing(path: string): never {
  throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
}
