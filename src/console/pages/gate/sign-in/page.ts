import type { FormError } from '../../../../../views/console/form/error-summary.tsx'
import { rawText } from '../../../../../views/console/form/values.ts'
import { SignInPage } from '../../../../../views/console/pages/gate/sign-in/page.tsx'
import { MAX_RETURN_URLS } from '../../../../engines/gate/limits.ts'
import { providerName } from '../../../../engines/gate/sign-in/flows/ui/providers.ts'
import { AppError, fail, invalid, notFound } from '../../../../platform/errors.ts'
import { submitted } from '../../../form.ts'
import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { FLASHES } from './flashes.ts'
import { missingOf } from './required-settings.ts'

/** Switchable methods besides providers, with their API names. */
const SWITCHES: ReadonlyMap<string, 'passwordless_enabled' | 'mfa_enabled'> = new Map([
  ['code', 'passwordless_enabled'],
  ['second-factor', 'mfa_enabled'],
] as const)

/** Page of the sign-in methods and return URLs. */
export function methodsPage({ layout, gate, config }: GateParts) {
  const { signInMethods } = gate

  function show(
    { request, operator, caller, mayChange, query }: Context,
    of: { input?: string; errors?: readonly FormError[] } = {},
  ): Response {
    const { passwordless_enabled, mfa_enabled } = signInMethods.security(caller)
    return layout.page({
      request,
      operator,
      title: 'Sign-in methods',
      active: 'signIn',
      flash: FLASHES.get(query.done ?? ''),
      status: of.errors ? 422 : 200,
      children: SignInPage({
        base: layout.base(),
        providers: signInMethods
          .providers(caller)
          .providers.map(({ provider, enabled }) => ({
            id: provider,
            name: providerName(provider),
            isOn: enabled,
            missing: missingOf(config, provider),
          })),
        hasCode: passwordless_enabled,
        hasMail: config.mail.smtpUrl !== undefined,
        hasSecondFactor: mfa_enabled,
        returnUrls: signInMethods.returnUrls(caller).return_urls,
        mayChange,
        ...of,
      }),
    })
  }

  async function turn(context: Context, enabled: boolean): Promise<Response> {
    const name = SWITCHES.get(context.params.id) ?? fail(notFound('sign-in method not found'))
    await signInMethods.setSecurity(context.caller, { [name]: enabled })
    return done(enabled ? 'on' : 'off')
  }

  async function saveReturnUrls(context: Context): Promise<Response> {
    const text = rawText(context.body, 'urls') ?? ''
    const { errors } = await submitted(() => saved(context, text), { urls: 'urls' })
    return errors ? show(context, { input: text, errors }) : done('urls')
  }

  async function saved({ caller }: Context, text: string) {
    const lines = text.split('\n').map((line) => line.trim())
    const urls = lines.filter((line) => line !== '')
    if (urls.length > MAX_RETURN_URLS)
      throw invalid(`must have at most ${MAX_RETURN_URLS} URLs`, {
        field: 'urls',
        rule: 'too_many',
      })
    try {
      return await signInMethods.setReturnUrls(caller, urls)
    } catch (error) {
      throw error instanceof AppError ? withLineNumber(error, lines) : error
    }
  }

  const done = (what: string): Response => layout.go(`/console/sign-in?done=${what}`)

  return { show, turn, saveReturnUrls }
}

/** The API counts addresses from 0; people count lines, including empty ones. */
function withLineNumber(
  { kind, field, rule, problem }: AppError,
  lines: readonly string[],
): AppError {
  const index = Number(field?.split('.')[1])
  const lineNumbers = lines.flatMap((line, index) => (line === '' ? [] : [index + 1]))
  const line = lineNumbers[index]
  const words = line === undefined ? problem : `line ${line} ${problem}`
  return new AppError(kind, words, { field: 'urls', rule: rule ?? 'format' })
}
