import { CurlBlock, type CurlRequest } from '../../../../views/ui/code.tsx'
import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Checkboxes, Radios } from '../../../../views/ui/form/choices.tsx'
import { checkedValues, Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { SecretPanel } from '../../../../views/ui/secret-panel.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import type { Fields } from '../../../http/body.ts'
import {
  ENGINE_SCOPES,
  ENGINES,
  ENVIRONMENTS,
  type Engine,
  type EngineScope,
} from '../../../platform/engines.ts'
import { invalid } from '../../../platform/errors.ts'
import type { IssuedKey, NewKey } from '../../../platform/keys.ts'
import { ENGINE_WORDS } from '../../engine-words.ts'
import { trimmedText } from '../../form.ts'
import { page, shown, usePage } from '../../page.tsx'
import { engineIn } from './keys.tsx'

/** Descriptions of the scopes. */
const SCOPE_WORDS: Record<string, string> = {
  'identities:read': 'Read users',
  'identities:write': 'Create, update and delete users',
  'sessions:write': 'Revoke sessions',
  flows: 'Sign users in and up',
  'settings:read': 'Read sign-in methods, policies and webhooks',
  'settings:write': 'Change sign-in methods, policies and webhooks',
  'tokens:write': 'Issue, introspect and revoke access tokens',
  authorize: 'Check permissions',
  'relay:send': 'Send messages',
  'relay:read': 'Read messages, endpoints and deliveries',
  'relay:endpoints': 'Create, update and delete endpoints; retry deliveries',
}

/** Name of the field with the scopes of an engine. */
const scopesField = (engine: Engine): string => `${engine}_scopes`

const hasChoice = (engine: Engine): boolean => ENGINE_SCOPES[engine].length > 1

/** The form of a new API key. The style sheet hides the fields of other engines. */
export const newKey = page({
  path: '/keys/new',
  section: 'keys',
  right: 'keys',
  title: 'New API key',

  load: ({ query }) => ({ engine: engineIn(query.engine) ?? 'clockwork' }),

  view: ({ engine }) => (
    <>
      <PageHead
        title="New API key"
        state={{ sentence: 'The key is shown once and works immediately.' }}
      />
      <div class="keyform">
        <PageForm
          action=""
          buttons={
            <>
              <Button weight="primary">Create key</Button>
              <LinkButton weight="bare" href={usePage().href('/keys')}>
                Cancel
              </LinkButton>
            </>
          }
        >
          <Radios
            name="engine"
            label="Engine"
            value={engine}
            options={ENGINES.map((value) => ({ value, ...ENGINE_WORDS[value] }))}
          />
          <div class="of-engine gate passepartout relay">
            <Radios
              name="environment"
              label="Environment"
              value="live"
              options={[
                { value: 'live', label: 'Live' },
                {
                  value: 'test',
                  label: 'Test',
                  text: 'Separate from live data. Never reaches real users or endpoints.',
                },
              ]}
            />
          </div>
          {ENGINES.filter(hasChoice).map((of) => (
            <div class={`of-engine ${of}`}>
              <Checkboxes
                name={scopesField(of)}
                label="Scopes"
                values={ENGINE_SCOPES[of]}
                options={ENGINE_SCOPES[of].map((value) => ({
                  value,
                  label: value,
                  text: SCOPE_WORDS[value],
                }))}
              />
            </div>
          ))}
          <Field
            name="own_scopes"
            label="Custom scopes"
            isMono
            isRequired={false}
            placeholder="orders.read orders.write"
            help="Scopes of your own services, for access tokens created with this key."
          />
        </PageForm>
      </div>
    </>
  ),

  actions: {
    '': {
      right: 'keys',
      form: ({ fields }) => ({
        engine: 'engine',
        environment: 'environment',
        scopes:
          ownScopesIn(fields).length > 0 ? 'own_scopes' : `${trimmedText(fields, 'engine')}_scopes`,
      }),
      /** Shows the key in the response to the form, because it is not stored. */
      async run({ keys, tenantId, actor, fields }) {
        const issued = await keys.issue(actor, { tenantId, ...wantedIn(fields) })
        return shown('New API key', <IssuedKeyPage issued={issued} />)
      },
    },
  },
})

const ownScopesIn = (body: Fields): string[] =>
  trimmedText(body, 'own_scopes')
    .split(/[\s,]+/)
    .filter(Boolean)

function wantedIn(body: Fields): Omit<NewKey, 'tenantId'> {
  const engine = ENGINES.find((one) => one === trimmedText(body, 'engine'))
  if (!engine)
    throw invalid(`must be one of ${ENGINES.join(', ')}`, { field: 'engine', rule: 'choice' })
  const environment = ENVIRONMENTS.find((one) => one === trimmedText(body, 'environment'))
  const known: readonly string[] = ENGINE_SCOPES[engine]
  // An engine with a single scope has no checkboxes.
  const chosen =
    known.length === 1
      ? known
      : checkedValues(body, scopesField(engine)).filter((scope) => known.includes(scope))
  const scopes = [...chosen, ...ownScopesIn(body)]
  if (scopes.length === 0)
    throw invalid('must name at least one scope', { field: 'scopes', rule: 'required' })
  return { engine, scopes, ...(engine !== 'clockwork' && environment && { environment }) }
}

/** Shows a new API key once. */
export function IssuedKeyPage({
  issued: key,
  replaced,
}: {
  issued: IssuedKey
  /** The rotated key, and when it expires. */
  replaced?: { hint: string; endsAt: number }
}) {
  const { href, baseUrl } = usePage()
  return (
    <>
      <PageHead
        title={replaced ? 'API key rotated' : 'API key created'}
        state={{
          tone: 'good',
          sentence: replaced ? (
            <>
              The new key works now. <code>{replaced.hint}</code> expires{' '}
              <Time at={replaced.endsAt} />.
            </>
          ) : (
            'The key works now.'
          ),
        }}
      />
      <SecretPanel
        title={`${ENGINE_WORDS[key.engine].label}, ${key.environment ?? 'live'}`}
        what="key"
        secret={key.key}
        doneHref={href('/keys')}
        example={requestsOf(key).map(([title, request]) => (
          <CurlBlock title={title} {...withKey(baseUrl(), key, request)} />
        ))}
      />
    </>
  )
}

interface Example {
  title: string
  path: string
  body?: unknown
}

/** Example requests by scope. The page shows the first read and the first write that the key allows. */
const EXAMPLES: Record<Engine, { reads: Examples; writes: Examples }> = {
  gate: {
    reads: [
      ['identities:read', { title: 'List users', path: '/v1/gate/identities' }],
      ['settings:read', { title: 'Get the policies', path: '/v1/gate/settings/policies' }],
      ['authorize', { title: 'List decisions', path: '/v1/gate/authorize/decisions' }],
    ],
    writes: [
      [
        'identities:write',
        {
          title: 'Create a user',
          path: '/v1/gate/identities',
          body: { schema_id: 'user', traits: { email: 'ada@example.com' } },
        },
      ],
    ],
  },
  clockwork: {
    reads: [['clockwork', { title: 'List jobs', path: '/v1/clockwork/jobs' }]],
    writes: [
      [
        'clockwork',
        {
          title: 'Create a job',
          path: '/v1/clockwork/jobs',
          body: { name: 'hello', schedule: '* * * * *', url: 'https://example.com/hook' },
        },
      ],
    ],
  },
  passepartout: {
    reads: [],
    writes: [
      ['passepartout', { title: 'Start a login', path: '/v1/passepartout/login/start', body: {} }],
    ],
  },
  relay: {
    reads: [
      ['relay:read', { title: 'List messages', path: '/v1/relay/messages' }],
      ['relay:endpoints', { title: 'List endpoints', path: '/v1/relay/endpoints' }],
    ],
    writes: [
      [
        'relay:send',
        {
          title: 'Send a message',
          path: '/v1/relay/messages',
          body: { event_type: 'order.paid', payload: { order: 42 } },
        },
      ],
    ],
  },
}

type Examples = readonly (readonly [EngineScope, Example])[]

function requestsOf({ engine, scopes }: IssuedKey): [string, Example][] {
  const { reads, writes } = EXAMPLES[engine]
  return [reads, writes].flatMap((examples) => {
    const [, example] = examples.find(([scope]) => scopes.includes(scope)) ?? []
    return example ? [[example.title, example]] : []
  })
}

const withKey = (apiUrl: string, { key }: IssuedKey, { path, body }: Example): CurlRequest => ({
  url: `${apiUrl}${path}`,
  headers: {
    Authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  },
  body,
})
