import { Elysia } from 'elysia'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import { type ProviderView, SignInPage } from '../../../../views/console/pages/gate/sign-in.tsx'
import { type Config, PROVIDERS, type ProviderName } from '../../../config/index.ts'
import { providerName } from '../../../engines/gate/flows/ui/providers.ts'
import type { Gate } from '../../../engines/gate/index.ts'
import { MOST_RETURN_URLS } from '../../../engines/gate/limits.ts'
import { AppError, fail, invalid, notFound } from '../../../platform/errors.ts'
import type { CallerOf } from '../../callers.ts'
import { asTyped, submitted } from '../../form.ts'
import type { Frames } from '../../frame.ts'
import type { ConsoleKit } from '../../kit.ts'
import { type Visit, visitsOf } from './asked.ts'

/** What besides providers can be switched, and what the API calls it. */
const SWITCHES = { code: 'passwordless_enabled', 'second-factor': 'mfa_enabled' } as const

/** By what the people of a tenant may sign in, and where they may be sent afterwards. */
export function signInPages(parts: {
  kit: ConsoleKit
  frames: Frames
  gate: Gate
  config: Config
  callerOf: CallerOf
}) {
  const { kit, frames, config } = parts
  const { signInMethods, callbackUrl } = parts.gate
  const asked = visitsOf(parts.callerOf)

  function show(
    { request, visitor, caller, mayChange, query }: Visit,
    of: { typed?: string; errors?: readonly FormError[] } = {},
  ): Response {
    const { passwordless_enabled, mfa_enabled } = signInMethods.security(caller)
    return frames.page({
      request,
      visitor,
      title: 'Sign-in',
      active: 'signIn',
      flash: query.done === undefined ? undefined : FLASHES[query.done],
      status: of.errors ? 422 : 200,
      children: SignInPage({
        base: frames.base(),
        providers: signInMethods.providers(caller).providers.map(viewOf),
        callbackUrl: callbackUrl('github').replace(/github$/, ''),
        hasCode: passwordless_enabled,
        hasMail: config.mail.smtpUrl !== undefined,
        hasSecondFactor: mfa_enabled,
        returnUrls: signInMethods.returnUrls(caller).return_urls,
        mayChange,
        ...of,
      }),
    })
  }

  const viewOf = (of: { provider: ProviderName; enabled: boolean }): ProviderView => ({
    id: of.provider,
    name: providerName(of.provider),
    isOn: of.enabled,
    missing: missingOf(config, of.provider),
  })

  async function switchProvider(visit: Visit, enabled: boolean): Promise<Response> {
    const provider =
      PROVIDERS.find((one) => one === visit.params.id) ?? fail(notFound('no such provider'))
    await signInMethods.setProviders(visit.caller, { providers: [{ provider, enabled }] })
    return done(enabled ? 'on' : 'off')
  }

  async function switchMethod(visit: Visit, enabled: boolean): Promise<Response> {
    const { id } = visit.params
    if (!Object.hasOwn(SWITCHES, id)) throw notFound('no such way to sign in')
    const name = SWITCHES[id as keyof typeof SWITCHES]
    await signInMethods.setSecurity(visit.caller, { [name]: enabled })
    return done(enabled ? 'on' : 'off')
  }

  async function saveReturnUrls(visit: Visit): Promise<Response> {
    const text = asTyped(visit.body, 'urls')
    const { errors } = await submitted(() => saved(visit, text), { urls: 'urls' })
    return errors ? show(visit, { typed: text, errors }) : done('urls')
  }

  async function saved({ caller }: Visit, text: string) {
    const lines = text.split('\n').map((line) => line.trim())
    const urls = lines.filter((line) => line !== '')
    if (urls.length > MOST_RETURN_URLS) throw invalid(`urls: at most ${MOST_RETURN_URLS} addresses`)
    try {
      return await signInMethods.setReturnUrls(caller, urls)
    } catch (error) {
      throw error instanceof AppError ? inItsLine(error, lines) : error
    }
  }

  const done = (what: string): Response => frames.go(`/console/sign-in?done=${what}`)

  return new Elysia({ name: 'sign-in pages', prefix: '/console/sign-in', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => show(asked(visit)), { right: 'read' })
    .post('/providers/:id/on', (visit) => switchProvider(asked(visit), true), { right: 'change' })
    .post('/providers/:id/off', (visit) => switchProvider(asked(visit), false), {
      right: 'change',
    })
    .post('/methods/:id/on', (visit) => switchMethod(asked(visit), true), { right: 'change' })
    .post('/methods/:id/off', (visit) => switchMethod(asked(visit), false), { right: 'change' })
    .post('/return-urls', (visit) => saveReturnUrls(asked(visit)), { right: 'change' })
}

/** The settings without which a provider is not offered to anybody. */
function missingOf({ gate }: Config, name: ProviderName): string[] {
  const { clientId, clientSecret, teamId, keyId, privateKey } = gate.providers[name]
  const wanted =
    name === 'apple'
      ? { client_id: clientId, team_id: teamId, key_id: keyId, private_key: privateKey }
      : { client_id: clientId, client_secret: clientSecret }
  return Object.entries(wanted).flatMap(([word, value]) => (value === undefined ? [word] : []))
}

/** The API counts addresses from 0; people count lines, and those that are empty as well. */
function inItsLine(error: AppError, lines: readonly string[]): AppError {
  const [, index, rule] = /^return_urls\.(\d+): (.+)$/s.exec(error.message) ?? []
  if (index === undefined) return error
  const places = lines.flatMap((line, place) => (line === '' ? [] : [place + 1]))
  return invalid(`urls: line ${places[Number(index)]}: ${rule}`)
}

const good = (text: string) => ({ tone: 'good' as const, text })

const FLASHES: Readonly<Record<string, ReturnType<typeof good>>> = {
  on: good('Switched on.'),
  off: good('Switched off.'),
  urls: good('Return URLs saved.'),
}
