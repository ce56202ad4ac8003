import { type Column, DataTable } from '../../data-table.tsx'
import { ActionButton, Button } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Form } from '../../form/form.tsx'
import { Textarea } from '../../form/textarea.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { url } from '../../url.ts'

const PATH = '/console/sign-in'

export interface ProviderView {
  id: string
  name: string
  isOn: boolean
  /** Names of settings that the configuration lacks. */
  missing: readonly string[]
}

interface SignInView {
  base: string
  providers: readonly ProviderView[]
  /** What has to be registered at a provider, up to its name. */
  callbackUrl: string
  hasCode: boolean
  hasMail: boolean
  hasSecondFactor: boolean
  returnUrls: readonly string[]
  mayChange: boolean
  /** Return URLs that came back as wrong. */
  typed?: string
  errors?: readonly FormError[]
}

/** By what people may sign in. */
export const SignInPage = (page: SignInView) => {
  const { base, providers, mayChange } = page
  const broken = providers.filter(({ isOn, missing }) => isOn && missing.length > 0)
  return (
    <>
      <PageHead
        title="Sign-in"
        state={{
          tone: broken.length > 0 || lacksMail(page) ? 'warn' : 'good',
          sentence: sentenceOn(page),
        }}
      />
      <Section id="methods" title="Methods">
        <DataTable
          caption="Methods"
          rows={methodsOf(page)}
          columns={methodColumns(base, mayChange)}
          idOf={({ id }) => id}
        />
      </Section>
      <Section
        id="providers"
        title="Accounts elsewhere"
        note="Whoever runs the installation sets a provider up in its configuration; each tenant switches on what its people may use."
      >
        <DataTable
          caption="Accounts elsewhere"
          rows={providers}
          columns={providerColumns(base, mayChange)}
          idOf={({ id }) => id}
        />
        <p class="hint">
          Each provider wants to know where people come back to: register{' '}
          <code>{page.callbackUrl}</code> there, and its name behind that, as in{' '}
          <code>[gate.providers.github]</code>.
        </p>
      </Section>
      <ReturnUrls {...page} />
    </>
  )
}

const lacksMail = ({ hasCode, hasMail }: SignInView): boolean => hasCode && !hasMail

function sentenceOn(page: SignInView): string {
  const working = page.providers.filter(({ isOn, missing }) => isOn && missing.length === 0)
  const ways = [
    'a password',
    ...(page.hasCode && page.hasMail ? ['a code by mail'] : []),
    ...working.map(({ name }) => name),
  ]
  const broken = page.providers.filter(({ isOn, missing }) => isOn && missing.length > 0)
  const troubles = [...broken.map(({ name }) => name), ...(lacksMail(page) ? ['Code by mail'] : [])]
  const sentence = `People sign in with ${ways.length === 1 ? ways[0] : listed(ways)}.`
  if (troubles.length === 0) return sentence
  return `${sentence} On, but not set up: ${troubles.join(', ')}.`
}

const listed = (ways: readonly string[]): string =>
  `${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}`

interface Method {
  id: string
  name: string
  text: string
  isOn: boolean
  /** False for what is always on. */
  isSwitched: boolean
  trouble?: string
}

const methodsOf = ({ hasCode, hasMail, hasSecondFactor }: SignInView): Method[] => [
  {
    id: 'password',
    name: 'Password',
    text: 'Always on: for those who have one.',
    isOn: true,
    isSwitched: false,
  },
  {
    id: 'code',
    name: 'Code by mail',
    text: 'Six digits to the address, in place of a password.',
    isOn: hasCode,
    isSwitched: true,
    ...(!hasMail && { trouble: 'no mail server: mail.smtp_url is not set' }),
  },
  {
    id: 'second-factor',
    name: 'Second factor',
    text: 'Asked of those who have set up an authenticator; off, nobody is asked.',
    isOn: hasSecondFactor,
    isSwitched: true,
  },
]

const Switched = ({ isOn, trouble }: { isOn: boolean; trouble?: string | undefined }) => {
  if (!isOn) return <StatusMark tone="quiet" word="off" />
  return trouble === undefined ? (
    <StatusMark tone="good" word="on" />
  ) : (
    <StatusMark tone="warn" word="not set up" />
  )
}

const Switch = ({ isOn, name, action }: { isOn: boolean; name: string; action: string }) => (
  <ActionButton isSmall action={`${action}/${isOn ? 'off' : 'on'}`}>
    {isOn ? 'Switch off' : 'Switch on'}
    <span class="unseen"> {name}</span>
  </ActionButton>
)

const methodColumns = (base: string, mayChange: boolean): Column<Method>[] => [
  { label: 'Method', cell: ({ name }) => name },
  { label: 'State', narrow: 'corner', cell: (method) => <Switched {...method} /> },
  {
    label: 'What it is',
    isWide: true,
    narrow: 'bare',
    cell: ({ text, trouble }) => (
      <span class="hint">{trouble === undefined ? text : `${text} Now there is ${trouble}.`}</span>
    ),
  },
  ...(mayChange
    ? [
        {
          label: '',
          align: 'right' as const,
          narrow: 'bare' as const,
          cell: ({ id, name, isOn, isSwitched }: Method) =>
            isSwitched && (
              <Switch isOn={isOn} name={name} action={url(base, `${PATH}/methods/${id}`)} />
            ),
        },
      ]
    : []),
]

const providerColumns = (base: string, mayChange: boolean): Column<ProviderView>[] => [
  { label: 'Provider', cell: ({ name }) => name },
  {
    label: 'State',
    narrow: 'corner',
    cell: ({ isOn, missing }) => <Switched isOn={isOn} trouble={missing[0]} />,
  },
  {
    label: 'Configuration',
    isWide: true,
    cell: ({ id, missing }) =>
      missing.length === 0 ? (
        'set up'
      ) : (
        <span class="hint">
          missing: {missing.join(', ')} in <code>[gate.providers.{id}]</code>
        </span>
      ),
  },
  ...(mayChange
    ? [
        {
          label: '',
          align: 'right' as const,
          narrow: 'bare' as const,
          cell: ({ id, name, isOn }: ProviderView) => (
            <Switch isOn={isOn} name={name} action={url(base, `${PATH}/providers/${id}`)} />
          ),
        },
      ]
    : []),
]

const ReturnUrls = ({ base, returnUrls, mayChange, typed, errors }: SignInView) => (
  <Section
    id="return-urls"
    title="Return URLs"
    note="Where people may be sent once they are done, and all below it. With none, they may be sent anywhere."
  >
    {mayChange ? (
      <Form
        action={url(base, `${PATH}/return-urls`)}
        errors={errors}
        buttons={<Button>Save return URLs</Button>}
      >
        <Textarea
          name="urls"
          label="One address a line"
          isMono
          rows={Math.min(12, Math.max(4, returnUrls.length + 1))}
          value={typed ?? returnUrls.join('\n')}
          error={errors?.find(({ name }) => name === 'urls')?.message}
          placeholder="https://example.com/welcome"
        />
      </Form>
    ) : returnUrls.length === 0 ? (
      <p class="hint">None.</p>
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
