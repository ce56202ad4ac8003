import { Marked } from '../../../../views/provider-marks.tsx'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { type Config, PROVIDERS, type ProviderName, requiredOf } from '../../../config/index.ts'
import { providerName } from '../../../engines/gate/sign-in/flows/ui/providers.ts'
import { providers } from '../../../engines/gate/sign-in/social/providers/index.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { type PageContext, page, usePage } from '../../page.tsx'
import { DISABLED, ENABLED, Switched } from './badges.tsx'

/** A required setting of a provider. */
export interface Required {
  name: string
  isSet: boolean
  /** Undefined for secrets. */
  value?: string | undefined
}

/** Required settings of a provider, by their names in the configuration file. */
export function requiredSettings({ gate }: Config, name: ProviderName): Required[] {
  const { clientId, clientSecret, teamId, keyId, privateKey } = gate.providers[name]
  const values: Record<string, string | undefined> = {
    client_id: clientId,
    client_secret: clientSecret,
    team_id: teamId,
    key_id: keyId,
    private_key: privateKey,
  }
  return requiredOf(name).map((setting) => ({
    name: setting,
    isSet: values[setting] !== undefined,
    ...(setting === 'client_id' && { value: clientId }),
  }))
}

export const missingOf = (config: Config, name: ProviderName): string[] =>
  requiredSettings(config, name).flatMap(({ name, isSet }) => (isSet ? [] : [name]))

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

interface ProviderPageView {
  id: ProviderName
  name: string
  isOn: boolean
  required: readonly Required[]
  callbackUrl: string
  /** Requested OAuth scopes. */
  scopes: string
}

/** One social login provider: status, configuration and set-up. */
export const providerPage = page({
  path: '/sign-in/providers/:id',
  section: 'signIn',
  right: 'read',

  load({ gate, installationSettings, caller, params }): ProviderPageView {
    const id = existing(params.id)
    const { providers: enabled } = gate.signInMethods.providers(caller('gate', 'live'))
    return {
      id,
      name: providerName(id),
      isOn: enabled.some((one) => one.provider === id && one.enabled),
      required: requiredSettings(installationSettings.current(), id),
      callbackUrl: gate.callbackUrl(id),
      scopes: providers[id].scopes,
    }
  },

  title: ({ name }) => name,

  view(provider) {
    const { name, isOn, required, scopes } = provider
    const { may, href, actionHref } = usePage()
    const isSetUp = required.every(({ isSet }) => isSet)
    return (
      <>
        <PageHead
          title={<Marked provider={provider.id} name={name} />}
          state={{
            tone: isOn ? (isSetUp ? 'good' : 'warn') : 'quiet',
            sentence: sentenceOn(provider, isSetUp),
          }}
          aside={
            may('change') && isOn && <ActionButton action={actionHref('off')}>Disable</ActionButton>
          }
          action={
            may('change') &&
            isSetUp && (
              <ActionButton
                weight="primary"
                action={isOn ? href('/sign-in/try') : actionHref('on')}
              >
                {isOn ? 'Try sign-in' : 'Enable'}
              </ActionButton>
            )
          }
        />
        <Section id="state" title="Configuration" isCard>
          <Facts
            facts={[
              ['Status', <Switched isOn={isOn} issue={isSetUp ? undefined : 'not configured'} />],
              ...required.map(({ name, ...of }) => [name, <Setting {...of} />] as const),
              ['Scopes', <code>{scopes}</code>],
            ]}
          />
        </Section>
        <SetUp {...provider} />
      </>
    )
  },

  actions: {
    on: { right: 'change', flash: ENABLED, run: (context) => turn(context, true) },
    off: { right: 'change', flash: DISABLED, run: (context) => turn(context, false) },
  },
})

const existing = (id: string): ProviderName =>
  PROVIDERS.find((one) => one === id) ?? fail(notFound('provider not found'))

/** Goes back to the list if the button is there. */
async function turn({ gate, caller, params, fields }: PageContext<'/:id'>, enabled: boolean) {
  const provider = existing(params.id)
  await gate.signInMethods.setProviders(caller('gate', 'live'), {
    providers: [{ provider, enabled }],
  })
  return trimmedText(fields, 'back') === 'list' ? { to: '/sign-in' } : {}
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

const SetUp = ({ id, name, required, callbackUrl }: ProviderPageView) => (
  <Section id="set-up" title={`Set up ${name}`} note="Once per installation, by an admin.">
    <ol class="setupsteps">
      <li>
        <p>
          Register an app at{' '}
          <a href={REGISTRATIONS[id]} rel="noreferrer" target="_blank">
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
