import { CodeBlock } from '../../../code-block.tsx'
import { Facts } from '../../../facts.tsx'
import { ActionButton } from '../../../form/button.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Section } from '../../../section.tsx'
import { StatusMark } from '../../../status-mark.tsx'
import { Text } from '../../../text.tsx'
import { url } from '../../../url.ts'
import { SIGN_IN, Switched } from './marks.tsx'

/** A setting that a provider cannot do without. */
export interface Needed {
  name: string
  isSet: boolean
  /** Of one that is no secret. */
  value?: string | undefined
}

interface ProviderPageView {
  base: string
  id: string
  name: string
  isOn: boolean
  needed: readonly Needed[]
  callbackUrl: string
  /** Where an app is registered with them. */
  registration: string
  /** What people are asked to agree to. */
  scopes: string
  mayChange: boolean
}

/** What it takes to let people in by their account with one provider. */
export const ProviderPage = (page: ProviderPageView) => {
  const { base, id, name, isOn, mayChange } = page
  const path = `${SIGN_IN}/providers/${id}`
  const isSetUp = page.needed.every(({ isSet }) => isSet)
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
          isOn && <ActionButton action={url(base, `${path}/off`)}>Switch off</ActionButton>
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
                  Switch on
                </ActionButton>
              ))
        }
      />
      <Section id="state" title="As configured" isCard>
        <Facts
          facts={[
            ['State', <Switched isOn={isOn} trouble={isSetUp ? undefined : 'not configured'} />],
            ...page.needed.map(({ name, ...of }) => [name, <Setting {...of} />] as const),
            ['Asks for', <code>{page.scopes}</code>],
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
      ? `Off: nobody signs in with ${name}.`
      : 'Not configured. Complete the configuration to switch it on.'
  return isSetUp
    ? `On: people sign in with ${name}.`
    : 'On, but not configured: sign-in pages leave it out until the configuration is complete.'
}

const Setting = ({ isSet, value }: Omit<Needed, 'name'>) => {
  if (!isSet) return <StatusMark tone="warn" word="missing" />
  return value === undefined ? (
    <StatusMark tone="good" word="set, and never shown" />
  ) : (
    <Text text={value} limit={80} />
  )
}

const SetUp = ({ id, name, needed, callbackUrl, registration }: ProviderPageView) => (
  <Section id="set-up" title="Set it up" note="Once for the installation, by whoever runs it.">
    <ol class="walk">
      <li>
        <p>
          Register an app with{' '}
          <a href={registration} rel="noreferrer" target="_blank">
            {name}
          </a>
          , and give it this address to send people back to:
        </p>
        <CodeBlock title="Callback URL">{callbackUrl}</CodeBlock>
      </li>
      <li>
        <p>Put what it answers with into the configuration, and restart:</p>
        <CodeBlock title="gatehouse.toml" what="configuration">
          {[
            `[gate.providers.${id}]`,
            ...needed.map(({ name }) => `${name} = ${EXAMPLES[name]}`),
          ].join('\n')}
        </CodeBlock>
      </li>
      <li>
        <p>Switch it on here, and try it.</p>
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
