import { ProviderPage } from '../../../../../views/console/pages/gate/sign-in/provider.tsx'
import { PROVIDERS, type ProviderName } from '../../../../config/index.ts'
import { providerName } from '../../../../engines/gate/sign-in/flows/ui/providers.ts'
import { providers } from '../../../../engines/gate/sign-in/social/providers/index.ts'
import { fail, notFound } from '../../../../platform/errors.ts'
import { trimmedText } from '../../../form.ts'
import { crumbTo } from '../../../layout.ts'
import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { FLASHES } from './flashes.ts'
import { requiredSettings } from './required-settings.ts'

/** Where to register an app with each provider. */
const REGISTRATIONS: Record<ProviderName, string> = {
  github: 'https://github.com/settings/applications/new',
  google: 'https://console.cloud.google.com/apis/credentials',
  gitlab: 'https://gitlab.com/-/user_settings/applications',
  microsoft: 'https://entra.microsoft.com/',
  discord: 'https://discord.com/developers/applications',
  facebook: 'https://developers.facebook.com/apps',
  linkedin: 'https://www.linkedin.com/developers/apps',
  apple: 'https://developer.apple.com/account/resources/identifiers/list/serviceId',
  slack: 'https://api.slack.com/apps',
  twitch: 'https://dev.twitch.tv/console/apps',
  spotify: 'https://developer.spotify.com/dashboard',
}

/** One social login provider. */
export function providerPage({ layout, gate, config }: GateParts) {
  const { signInMethods, callbackUrl } = gate

  const existing = ({ params }: Context): ProviderName =>
    PROVIDERS.find((one) => one === params.id) ?? fail(notFound('provider not found'))

  function show(context: Context): Response {
    const { request, operator, caller, mayChange, query } = context
    const id = existing(context)
    const name = providerName(id)
    return layout.page({
      request,
      operator,
      title: name,
      active: 'signIn',
      above: [crumbTo(layout.base(), 'signIn')],
      flash: FLASHES.get(query.done ?? ''),
      children: ProviderPage({
        base: layout.base(),
        id,
        name,
        isOn: signInMethods
          .providers(caller)
          .providers.some(({ provider, enabled }) => provider === id && enabled),
        required: requiredSettings(config, id),
        callbackUrl: callbackUrl(id),
        registration: REGISTRATIONS[id],
        scopes: providers[id].scopes,
        mayChange,
      }),
    })
  }

  async function turn(context: Context, enabled: boolean): Promise<Response> {
    const provider = existing(context)
    await signInMethods.setProviders(context.caller, { providers: [{ provider, enabled }] })
    const subpath = trimmedText(context.body, 'back') === 'list' ? '' : `/providers/${provider}`
    return layout.go(`/console/sign-in${subpath}?done=${enabled ? 'on' : 'off'}`)
  }

  return { show, turn }
}
