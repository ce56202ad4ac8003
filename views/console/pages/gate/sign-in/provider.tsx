import { CodeBlock } from '../../../code-block.tsx'
import { Facts } from '../../../facts.tsx'
import { ActionButton } from '../../../form/button.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Section } from '../../../section.tsx'
import { StatusBadge } from '../../../status-badge.tsx'
import { Text } from '../../../text.tsx'
import { url } from '../../../url.ts'
import { SIGN_IN, Switched } from './badges.tsx'

/** A required setting of a provider. */
export interface Required {
  name: string
  isSet: boolean
  /** Undefined for secrets. */
  value?: string | undefined
}

interface ProviderPageView {
  base: string
  id: string
  name: string
  isOn: boolean
  required: readonly Required[]
  callbackUrl: string
  /** Where to register an app with the provider. */
  registration: string
  /** Requested OAuth scopes. */
  scopes: string
  mayChange: boolean
}

/** One social login provider: status, configuration and set-up. */
export const ProviderPage = (page: ProviderPageView) => {
  const { base, id, name, isOn, mayChange } = page
  const path = `${SIGN_IN}/providers/${id}`
  const isSetUp = page.required.every(({ isSet }) => isSet)
  return (
    <>
      <PageHead
        title={name}
        state={{
          tone: isOn ? (isSetUp ? 'good' : 'warn') : 'quiet',
          sentence: sentenceOn(page, isSetUp),
        }}
        aside={
          mayChange &&
          isOn && <ActionButton action={url(base, `${path}/off`)}>Disable</ActionButton>
        }
        action={
          mayChange &&
          (isOn
            ? isSetUp && (
                <ActionButton weight="primary" action={url(base, `${SIGN_IN}/try`)}>
                  Try sign-in
                </ActionButton>
              )
            : isSetUp && (
                <ActionButton weight="primary" action={url(base, `${path}/on`)}>
                  Enable
                </ActionButton>
              ))
        }
      />
      <Section id="state" title="Configuration" isCard>
        <Facts
          facts={[
            ['Status', <Switched isOn={isOn} issue={isSetUp ? undefined : 'not configured'} />],
            ...page.required.map(({ name, ...of }) => [name, <Setting {...of} />] as const),
            ['Scopes', <code>{page.scopes}</code>],
          ]}
        />
      </Section>
      <SetUp {...page} />
    </>
  )
}

function sentenceOn({ isOn, name }: ProviderPageView, isSetUp: boolean): string {
  if (!isOn)
    return isSetUp
      ? `Disabled. Users can't sign in with ${name}.`
      : 'Not configured. Complete the configuration to enable it.'
  return isSetUp
    ? `Enabled. Users can sign in with ${name}.`
    : 'Enabled, but not configured. Sign-in pages hide it until the configuration is complete.'
}

const Setting = ({ isSet, value }: Omit<Required, 'name'>) => {
  if (!isSet) return <StatusBadge tone="warn" word="missing" />
  return value === undefined ? (
    <StatusBadge tone="good" word="set (hidden)" />
  ) : (
    <Text text={value} limit={80} />
  )
}

const SetUp = ({ id, name, required, callbackUrl, registration }: ProviderPageView) => (
  <Section id="set-up" title={`Set up ${name}`} note="Once per installation, by an admin.">
    <ol class="setupsteps">
      <li>
        <p>
          Register an app at{' '}
          <a href={registration} rel="noreferrer" target="_blank">
            {name}
          </a>{' '}
          with this callback URL:
        </p>
        <CodeBlock title="Callback URL">{callbackUrl}</CodeBlock>
      </li>
      <li>
        <p>Add the credentials to the configuration and restart Gatehouse:</p>
        <CodeBlock title="gatehouse.toml" what="configuration">
          {[
            `[gate.providers.${id}]`,
            ...required.map(({ name }) => `${name} = ${EXAMPLES[name]}`),
          ].join('\n')}
        </CodeBlock>
      </li>
      <li>
        <p>Enable it here and try it.</p>
      </li>
    </ol>
  </Section>
)

const EXAMPLES: Record<string, string> = {
  client_id: '"…"',
  client_secret: '"…"',
  team_id: '"…"',
  key_id: '"…"',
  private_key: '"""\n-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n"""',
}
