import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { providerName } from '../../../engines/gate/sign-in/flows/ui/providers.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { missingOf } from './required-settings.ts'
import { DISABLED, ENABLED } from './sign-in-badges.tsx'
import { Methods } from './sign-in-methods.tsx'
import { Providers } from './sign-in-providers.tsx'
import { ReturnUrls, saveReturnUrls } from './sign-in-return-urls.tsx'
import type { SignInView } from './sign-in-view.ts'

/** Switchable methods besides providers, with their API names. */
const SWITCHES: ReadonlyMap<string, 'passwordless_enabled' | 'mfa_enabled'> = new Map([
  ['code', 'passwordless_enabled'],
  ['second-factor', 'mfa_enabled'],
] as const)

/** Sign-in methods, social login and return URLs of a tenant. */
export const signInPage = page({
  path: '/sign-in',
  section: 'signIn',
  right: 'read',
  title: 'Sign-in methods',

  load({ gate: { signInMethods }, config, ...context }): SignInView {
    const caller = context.caller('gate', 'live')
    const security = signInMethods.security(caller)
    return {
      providers: signInMethods
        .providers(caller)
        .providers.map(({ provider, enabled }) => ({
          id: provider,
          name: providerName(provider),
          isOn: enabled,
          missing: missingOf(config, provider),
        })),
      hasCode: security.passwordless_enabled,
      hasMail: config.mail.smtpUrl !== undefined,
      hasSecondFactor: security.mfa_enabled,
      returnUrls: signInMethods.returnUrls(caller).return_urls,
    }
  },

  view(view) {
    const { may, actionHref } = usePage()
    const isBroken = view.providers.some(({ isOn, missing }) => isOn && missing.length > 0)
    return (
      <>
        <PageHead
          title="Sign-in methods"
          state={{
            tone: isBroken || lacksMail(view) ? 'warn' : 'good',
            sentence: sentenceOn(view),
          }}
          action={
            may('change') && (
              <ActionButton weight="primary" action={actionHref('try')}>
                Try sign-in
              </ActionButton>
            )
          }
        />
        <Methods {...view} />
        <Providers {...view} />
        <ReturnUrls {...view} />
      </>
    )
  },

  actions: {
    /** Opens the sign-in page that the tenant's users see. */
    try: {
      right: 'change',
      async run({ gate, caller }) {
        const flow = await gate.flows.start(caller('gate', 'live'), 'login', {
          language: undefined,
        })
        return { away: flow.hosted_url }
      },
    },
    'methods/:id/on': {
      right: 'change',
      flash: ENABLED,
      run: (context) => setMethod(context, context.params.id, true),
    },
    'methods/:id/off': {
      right: 'change',
      flash: DISABLED,
      run: (context) => setMethod(context, context.params.id, false),
    },
    'return-urls': {
      right: 'change',
      form: { urls: 'urls' },
      flash: good('Return URLs saved.'),
      run: saveReturnUrls,
    },
  },
})

async function setMethod({ gate, caller }: PageContext, id: string, enabled: boolean) {
  const name = SWITCHES.get(id) ?? fail(notFound('sign-in method not found'))
  await gate.signInMethods.setSecurity(caller('gate', 'live'), { [name]: enabled })
}

const lacksMail = ({ hasCode, hasMail }: SignInView): boolean => hasCode && !hasMail

function sentenceOn(page: SignInView): string {
  const working = page.providers.filter(({ isOn, missing }) => isOn && missing.length === 0)
  const methods = [
    'a password',
    ...(page.hasCode && page.hasMail ? ['an email code'] : []),
    ...working.map(({ name }) => name),
  ]
  const broken = page.providers.filter(({ isOn, missing }) => isOn && missing.length > 0)
  const issues = [...broken.map(({ name }) => name), ...(lacksMail(page) ? ['Email code'] : [])]
  const sentence = `Users can sign in with ${methods.length === 1 ? methods[0] : listed(methods)}.`
  if (issues.length === 0) return sentence
  return `${sentence} Enabled, but not configured: ${issues.join(', ')}.`
}

const listed = (methods: readonly string[]): string =>
  `${methods.slice(0, -1).join(', ')} or ${methods.at(-1)}`
