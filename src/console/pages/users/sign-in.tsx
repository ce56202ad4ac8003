import type { VNode } from 'preact'
import { ActionButton, Button } from '../../../../views/ui/form/button.tsx'
import { rawText } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { MAX_RETURN_URLS } from '../../../engines/gate/limits.ts'
import { providerName } from '../../../engines/gate/sign-in/flows/ui/providers.ts'
import { AppError, fail, invalid, notFound } from '../../../platform/errors.ts'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { NoMailServer } from '../no-mail-server.tsx'
import { DISABLED, ENABLED, Switch, Switched } from './badges.tsx'
import { missingOf } from './provider.tsx'
import { Providers, type SignInView } from './sign-in-providers.tsx'

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

  load({ gate: { signInMethods }, mail, installationSettings, ...context }): SignInView {
    const caller = context.caller('gate', 'live')
    const security = signInMethods.security(caller)
    return {
      providers: signInMethods
        .providers(caller)
        .providers.map(({ provider, enabled }) => ({
          id: provider,
          name: providerName(provider),
          isOn: enabled,
          missing: missingOf(installationSettings.current(), provider),
        })),
      hasCode: security.passwordless_enabled,
      hasMail: mail.hasServer,
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

/** Sign-in methods other than social login. */
export function Methods(view: SignInView) {
  const { may } = usePage()
  return (
    <Section id="methods" title="Methods">
      <DataTable
        caption="Methods"
        rows={methodsOf(view)}
        columns={may('change') ? [...COLUMNS, SWITCH] : COLUMNS}
        idOf={({ id }) => id}
      />
    </Section>
  )
}

const CodesNeedMail = () => (
  <>
    Codes can't be sent yet. <NoMailServer />
  </>
)

interface Method {
  id: string
  name: string
  text: string
  isOn: boolean
  /** False for methods that are always enabled. */
  isSwitched: boolean
  /** Why it doesn't work, and how to fix that. */
  issue?: VNode
}

const methodsOf = ({ hasCode, hasMail, hasSecondFactor }: SignInView): Method[] => [
  {
    id: 'password',
    name: 'Password',
    text: 'Always enabled, for users who have a password.',
    isOn: true,
    isSwitched: false,
  },
  {
    id: 'code',
    name: 'Email code',
    text: 'A 6-digit code sent by email, instead of a password.',
    isOn: hasCode,
    isSwitched: true,
    ...(!hasMail && { issue: <CodesNeedMail /> }),
  },
  {
    id: 'second-factor',
    name: 'Two-factor authentication',
    text: 'Required for users who set up an authenticator app. If disabled, sign-in never requires it.',
    isOn: hasSecondFactor,
    isSwitched: true,
  },
]

const COLUMNS: Column<Method>[] = [
  { label: 'Method', cell: ({ name }) => name },
  { label: 'Status', narrow: 'corner', cell: (method) => <Switched {...method} /> },
  {
    label: 'Description',
    isWide: true,
    narrow: 'bare',
    cell: ({ text, issue }) => (
      <span class="hint">
        {text} {issue}
      </span>
    ),
  },
]

const SWITCH: Column<Method> = {
  label: 'Action',
  align: 'right',
  narrow: 'bare',
  cell: ({ id, name, isOn, isSwitched }) =>
    isSwitched && (
      <Switch isOn={isOn} name={name} action={usePage().href(`/sign-in/methods/${id}`)} />
    ),
}

/** Allowed return URLs after sign-in. */
export const ReturnUrls = ({ returnUrls }: SignInView) => (
  <Section
    id="return-urls"
    title="Return URLs"
    note="Users can be sent back to these URLs and to paths below them. If empty, any URL is allowed."
  >
    {usePage().may('change') ? (
      <PageForm
        action="return-urls"
        anchor="return-urls"
        buttons={<Button>Save return URLs</Button>}
      >
        <Textarea
          name="urls"
          label="One URL per line"
          isMono
          rows={Math.min(12, Math.max(4, returnUrls.length + 1))}
          value={returnUrls.join('\n')}
          placeholder="https://example.com/welcome"
        />
      </PageForm>
    ) : returnUrls.length === 0 ? (
      <p class="hint">No return URLs</p>
    ) : (
      <ul>
        {returnUrls.map((one) => (
          <li>
            <code>{one}</code>
          </li>
        ))}
      </ul>
    )}
  </Section>
)

/** Saves the return URLs of a form, one per line. Throws `invalid` with the line. */
async function saveReturnUrls({ gate, caller, fields }: PageContext): Promise<void> {
  const text = rawText(fields, 'urls') ?? ''
  const lines = text.split('\n').map((line) => line.trim())
  const urls = lines.filter((line) => line !== '')
  if (urls.length > MAX_RETURN_URLS)
    throw invalid(`must have at most ${MAX_RETURN_URLS} URLs`, { field: 'urls', rule: 'too_many' })
  try {
    await gate.signInMethods.setReturnUrls(caller('gate', 'live'), urls)
  } catch (error) {
    throw error instanceof AppError ? withLineNumber(error, lines) : error
  }
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
