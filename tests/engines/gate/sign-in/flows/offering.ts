import { createApp } from '../../../../../src/app.ts'
import type { ProviderName } from '../../../../../src/config/index.ts'
import type { Answer, TestApp } from '../../../../support/app.ts'
import { testConfig, withClients } from '../../../../support/config.ts'
import { SETTINGS } from '../../fixture.ts'
import { UNHURRIED } from './acts.ts'
import { type Flows, flowsOf } from './fixture.ts'

/** The flows of the same tenant, by an instance that has clients at these providers. */
export function offering(fixture: Flows, ...providers: Parameters<typeof withClients>) {
  const { app: instance } = createApp(fixture.app.platform, configWith(providers))

  async function raw(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await instance.handle(new Request(`http://localhost${path}`, init))
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  const put = (setting: string, body: unknown) =>
    raw(`${SETTINGS}/${setting}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  const app: TestApp = { ...fixture.app, raw }
  return {
    ...flowsOf(app, fixture),
    /** What the tenant switches on. */
    enable: (...on: ProviderName[]) =>
      put('oidc-providers', { providers: on.map((provider) => ({ provider, enabled: true })) }),
    allowCodes: (isAllowed: boolean) => put('security', { passwordless_enabled: isAllowed }),
  }
}

function configWith(providers: Parameters<typeof withClients>) {
  const { flags, env } = withClients(...providers)
  return testConfig({ ...UNHURRIED, ...flags }, env)
}
