import { Marked } from '../../../../views/provider-marks.tsx'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { ActionButton, Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import {
  ALL_PROVIDERS,
  type AnyProvider,
  OPERATOR_PROVIDERS,
  requiredOf,
  type StoredValues,
} from '../../../config/index.ts'
import type { TestSignIn } from '../../../engines/gate/operators/test-sign-ins.ts'
import { providerName } from '../../../engines/gate/sign-in/flows/ui/providers.ts'
import { isSafeUrl } from '../../../engines/gate/sign-in/social/addresses.ts'
import type { ProviderCheck } from '../../../engines/gate/sign-in/social/index.ts'
import type { Fields } from '../../../http/body.ts'
import { fail, invalid, notFound } from '../../../platform/errors.ts'
import type { InstallationSettings } from '../../../platform/installation-settings/index.ts'
import { checkAll, trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'
import { missingOf } from '../users/provider.tsx'
import { GivenTable } from './given-table.tsx'
import { ConnectionTest, SignInTest } from './provider-checks.tsx'
import { credentialLabel, guideTo } from './provider-guides.ts'

interface InstallationProviderView {
  id: AnyProvider
  name: string
  source: ReturnType<InstallationSettings['sourceOf']>
  isComplete: boolean
  redirectUrl: string
  /** What is stored, without secrets. */
  stored: StoredValues
  checks: readonly ProviderCheck[] | undefined
  testSignIn: TestSignIn | undefined
}

const SECRETS: readonly string[] = ['client_secret', 'private_key']

/** URLs of a provider, with their labels. */
const URLS: Readonly<Record<string, string>> = {
  base_url: 'Base URL',
  authorize_url: 'Authorization URL',
  token_url: 'Token URL',
  userinfo_url: 'User info URL',
  issuer: 'Issuer',
  jwks_url: 'Key set URL (JWKS)',
}

/** One provider of the installation: register an app, enter its credentials, test. */
export const installationProvider = page({
  path: '/providers/:id',
  section: 'providers',
  right: 'admin',

  load({ installationSettings, gate, params, operator, result }): InstallationProviderView {
    const id = existing(params.id)
    const stored = installationSettings.storedIn(`gate.providers.${id}`) ?? {}
    return {
      id,
      name: nameOf(id),
      source: installationSettings.sourceOf(`gate.providers.${id}`),
      isComplete: missingOf(installationSettings.current(), id).length === 0,
      redirectUrl: gate.callbackUrl(id),
      stored: Object.fromEntries(Object.entries(stored).filter(([key]) => !SECRETS.includes(key))),
      checks: result as InstallationProviderView['checks'],
      testSignIn: gate.testSignIns.of(operator.sessionId, id),
    }
  },

  title: ({ name }) => name,

  view(provider) {
    const { actionHref } = usePage()
    const { id, source, isComplete, checks, testSignIn } = provider
    return (
      <>
        <PageHead
          title={<Marked provider={id} name={provider.name} />}
          state={stateOf(provider)}
          aside={
            isComplete && <ActionButton action={actionHref('test')}>Test connection</ActionButton>
          }
          action={
            isComplete && (
              <ActionButton weight="primary" action={actionHref('sign-in')}>
                Sign in to test
              </ActionButton>
            )
          }
        />
        {checks && <ConnectionTest checks={checks} />}
        {testSignIn && <SignInTest test={testSignIn} isStored={isForOperators(id)} />}
        <Registration {...provider} />
        {source === 'configuration' ? (
          <GivenTable table={`gate.providers.${id}`} />
        ) : (
          <Credentials {...provider} />
        )}
        {(source === 'database' || source === 'unusable') && (
          <DangerZone items={[removal(provider)]} />
        )}
      </>
    )
  },

  actions: {
    '': {
      right: 'admin',
      flash: good('Provider saved. Sign in to test it.'),
      form: ({ params }) => fieldsOf(existing(params.id)),
      async run({ installationSettings, gate, operator, actor, fields, params }) {
        const id = existing(params.id)
        const table = `gate.providers.${id}` as const
        const values = valuesIn(id, fields, installationSettings.storedIn(table))
        await installationSettings.put(actor, table, values)
        await gate.testSignIns.discard(operator.sessionId, id)
      },
    },
    test: {
      right: 'admin',
      async run({ gate, params, audit, actor, db }) {
        const id = existing(params.id)
        const result = await gate.checkProvider(id)
        const detail = { results: result.map((check) => check.result) }
        const entry = { actor, action: 'provider.tested', object: `provider:${id}`, detail }
        await db.commit(() => audit.recordForOperators(entry))
        return { again: true, result }
      },
    },
    /** Without a URL to go to, the connection test says what is missing. */
    'sign-in': {
      right: 'admin',
      async run({ gate, params, operator, actor, href }) {
        const id = existing(params.id)
        const { sessionId } = operator
        const returnTo = href(`/providers/${id}`)
        const away = await gate.testSignIns.begin(id, { sessionId, actor, returnTo })
        return away ? { away } : { again: true, result: await gate.checkProvider(id) }
      },
    },
    remove: {
      right: 'admin',
      flash: good('Provider removed.'),
      async run({ installationSettings, gate, operator, actor, params }) {
        const id = existing(params.id)
        await installationSettings.remove(actor, `gate.providers.${id}`)
        await gate.testSignIns.discard(operator.sessionId, id)
        return { to: '/providers' }
      },
    },
  },
})

const existing = (id: string): AnyProvider =>
  ALL_PROVIDERS.find((one) => one === id) ?? fail(notFound('provider not found'))

const isForOperators = (id: AnyProvider) => OPERATOR_PROVIDERS.some((one) => one === id)

const nameOf = (id: AnyProvider): string =>
  isForOperators(id) ? `${providerName(id)} for operators` : providerName(id)

function stateOf({ id, source, isComplete }: InstallationProviderView): {
  tone: Tone
  sentence: string
} {
  if (source === 'unusable')
    return {
      tone: 'bad',
      sentence:
        "The saved credentials can't be decrypted with the current master key. Enter them again.",
    }
  if (!isComplete)
    return { tone: 'quiet', sentence: 'Not configured. Register an app and enter its credentials.' }
  return {
    tone: 'good',
    sentence: isForOperators(id)
      ? 'Configured. Operators can sign in to this console with it.'
      : 'Configured. Tenants can enable it under Sign-in methods.',
  }
}

const Registration = ({ id, redirectUrl }: InstallationProviderView) => {
  const { config } = usePage()
  const { href, create, redirectField, note } = guideTo(id)
  return (
    <Section id="register" title="Register an app" isCard>
      <ol class="setupsteps">
        <li>
          <p>
            At{' '}
            <a href={href} rel="noreferrer" target="_blank">
              {providerName(id)}
            </a>
            , create {create}.
          </p>
        </li>
        <li>
          <p>
            Enter this URL as <b>{redirectField}</b>:
          </p>
          <CodeBlock title="Redirect URL">{redirectUrl}</CodeBlock>
          {config.server.baseUrl === undefined && (
            <p class="hint">
              It starts with the address that Gatehouse listens on. If users reach Gatehouse at
              another URL, set base_url under [server] first.
            </p>
          )}
        </li>
        {note && (
          <li>
            <p>{note}</p>
          </li>
        )}
      </ol>
    </Section>
  )
}

const Credentials = ({ id, stored, source }: InstallationProviderView) => (
  <Section
    id="credentials"
    title="Credentials"
    note="Copy them from the app. Changes take effect immediately."
    isCard
  >
    <PageForm action="" initial={stored} buttons={<Button weight="primary">Save provider</Button>}>
      {requiredOf(id).map((key) => (
        <Credential id={id} name={key} isSaved={source === 'database'} />
      ))}
      <Urls stored={stored} />
    </PageForm>
  </Section>
)

function Credential({ id, name, isSaved }: { id: AnyProvider; name: string; isSaved: boolean }) {
  const label = credentialLabel(id, name)
  if (!SECRETS.includes(name)) return <Field name={name} label={label} isMono isRequired />
  const field = {
    name,
    label: isSaved ? `New ${label.charAt(0).toLowerCase()}${label.slice(1)}` : label,
    isRequired: !isSaved,
    help: isSaved
      ? 'One is saved. Leave this empty to keep it for the same app and URLs.'
      : 'Encrypted with the master key and never shown again.',
  }
  return name === 'private_key' ? (
    <Textarea {...field} isMono isSecret rows={6} placeholder="-----BEGIN PRIVATE KEY-----" />
  ) : (
    <Field {...field} type="password" autocomplete="new-password" />
  )
}

function Urls({ stored }: Pick<InstallationProviderView, 'stored'>) {
  const { submission } = usePage()
  const isOpen =
    Object.keys(URLS).some((key) => stored[key]) ||
    submission?.errors.some(({ name = '' }) => name in URLS)
  return (
    <details class="fold" open={isOpen}>
      <summary>Self-hosted or custom URLs</summary>
      <div class="form">
        <Field
          name="base_url"
          label="Base URL"
          placeholder="https://gitlab.example.com"
          help="The start of all URLs of a self-hosted provider. Usually, the fields below stay empty."
          isMono
          isRequired={false}
        />
        {Object.entries(URLS)
          .filter(([key]) => key !== 'base_url')
          .map(([key, label]) => (
            <Field name={key} label={label} isMono isRequired={false} />
          ))}
      </div>
    </details>
  )
}

/** The form's fields by setting, with their labels. */
const fieldsOf = (id: AnyProvider) => ({
  ...Object.fromEntries(
    requiredOf(id).map((key) => [key, { name: key, label: credentialLabel(id, key) }]),
  ),
  ...Object.fromEntries(Object.entries(URLS).map(([key, label]) => [key, { name: key, label }])),
})

/** The values from the form. An empty secret keeps the saved one, but for the same app and URLs only. */
function valuesIn(id: AnyProvider, fields: Fields, stored: StoredValues = {}): StoredValues {
  const required = requiredOf(id)
  const typed = Object.fromEntries(
    [...required, ...Object.keys(URLS)].map((key) => [key, trimmedText(fields, key)]),
  )
  const isSame = Object.entries(typed).every(
    ([key, value]) => SECRETS.includes(key) || value === (stored[key] ?? ''),
  )
  const secrets = required.filter((key) => SECRETS.includes(key) && typed[key] === '')
  checkAll([
    ...Object.keys(URLS).map((key) => () => refuseUnsafe(key, typed[key] ?? '')),
    ...secrets
      .filter((key) => stored[key] && !isSame)
      .map((field) => () => {
        throw invalid('must be entered again for another app or URL', { field, rule: 'required' })
      }),
  ])
  return { ...typed, ...Object.fromEntries(secrets.map((key) => [key, stored[key] ?? ''])) }
}

function refuseUnsafe(field: string, value: string) {
  const url = URL.parse(value)
  if (url && field !== 'issuer' && !isSafeUrl(url))
    throw invalid('must use https; http is allowed on this machine only', { field, rule: 'format' })
}

const removal = ({ id, name }: InstallationProviderView) => ({
  text: isForOperators(id)
    ? 'Operators can no longer sign in to this console with it.'
    : 'Users of all tenants can no longer sign in with it. Their accounts stay connected.',
  id: 'remove',
  verb: 'Remove provider',
  question: `Remove ${name}?`,
  consequence: 'The credentials are deleted. You can enter them again.',
  action: usePage().actionHref('remove'),
})
