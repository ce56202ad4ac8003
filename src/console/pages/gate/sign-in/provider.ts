import { ProviderPage } from '../../../../../views/console/pages/gate/sign-in/provider.tsx'
import { PROVIDERS, type ProviderName } from '../../../../config/index.ts'
import { providerName } from '../../../../engines/gate/sign-in/flows/ui/providers.ts'
import { providers } from '../../../../engines/gate/sign-in/social/providers/index.ts'
import { fail, notFound } from '../../../../platform/errors.ts'
import { typed } from '../../../form.ts'
import { crumbTo } from '../../../frame.ts'
import type { Visit } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { FLASHES } from './flashes.ts'
import { neededBy } from './needed.ts'

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
export function providerPage({ frames, gate, config }: GateParts) {
  const { signInMethods, callbackUrl } = gate

  const existing = ({ params }: Visit): ProviderName =>
    PROVIDERS.find((one) => one === params.id) ?? fail(notFound('provider not found'))

  function show(visit: Visit): Response {
    const { request, visitor, caller, mayChange, query } = visit
    const id = existing(visit)
    const name = providerName(id)
    return frames.page({
      request,
      visitor,
      title: name,
      active: 'signIn',
      above: [crumbTo(frames.base(), 'signIn')],
      flash: FLASHES.get(query.done ?? ''),
      children: ProviderPage({
        base: frames.base(),
        id,
        name,
        isOn: signInMethods
          .providers(caller)
          .providers.some(({ provider, enabled }) => provider === id && enabled),
        needed: neededBy(config, id),
        callbackUrl: callbackUrl(id),
        registration: REGISTRATIONS[id],
        scopes: providers[id].scopes,
        mayChange,
      }),
    })
  }

  async function turn(visit: Visit, enabled: boolean): Promise<Response> {
    const provider = existing(visit)
    await signInMethods.setProviders(visit.caller, { providers: [{ provider, enabled }] })
    const place = typed(visit.body, 'back') === 'list' ? '' : `/providers/${provider}`
    return frames.go(`/console/sign-in${place}?done=${enabled ? 'on' : 'off'}`)
  }

  return { show, turn }
}
