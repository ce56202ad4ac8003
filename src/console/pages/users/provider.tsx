import { Marked } from '../../../../views/provider-marks.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import {
  type AnyProvider,
  type Config,
  PROVIDERS,
  type ProviderName,
  requiredOf,
} from '../../../config/index.ts'
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
export function requiredSettings({ gate }: Config, name: AnyProvider): Required[] {
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

export const missingOf = (config: Config, name: AnyProvider): string[] =>
  requiredSettings(config, name).flatMap(({ name, isSet }) => (isSet ? [] : [name]))

interface ProviderPageView {
  id: ProviderName
  name: string
  isOn: boolean
  required: readonly Required[]
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
        {!isSetUp && <SetUp {...provider} />}
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

/** What is left to do before the tenant can enable the provider. */
const SetUp = ({ id, name }: ProviderPageView) => {
  const { operator, href } = usePage()
  return (
    <Section id="set-up" title={`Set up ${name}`} isCard>
      {operator.isAdmin ? (
        <>
          <p class="hint">
            Register an app at {name} and enter its credentials once for the whole installation.
          </p>
          <div class="actions">
            <LinkButton href={href(`/providers/${id}`)}>Set up {name}</LinkButton>
          </div>
        </>
      ) : (
        <p class="hint">
          An admin of this installation registers an app at {name} and enters its credentials in the
          console, under Installation → Social login.
        </p>
      )}
    </Section>
  )
}
